import { classNames } from './class-names.js';

export type BarState = 'ready' | 'slow' | 'failing' | 'login' | 'off';

export interface HealthBar {
  readonly state: BarState;
  /** `09:00–10:00: ready`, read by the browser's tooltip and by screen readers. */
  readonly label: string;
}

/** The height says the state, so that it is readable without colour. */
const looks: Readonly<Record<BarState, string>> = {
  ready: 'h-1.5 bg-ok-mark',
  slow: 'h-2.5 bg-warn-mark',
  failing: 'h-4 bg-bad-mark',
  login: 'h-4 border border-warn-mark',
  off: 'h-0.5 bg-idle-mark',
};

interface HealthStripProps {
  readonly label: string;
  readonly bars: readonly HealthBar[];
}

export function HealthStrip({ label, bars }: HealthStripProps) {
  return (
    <span role="img" aria-label={label} className="inline-flex h-4 items-end gap-px">
      {bars.map((bar, at) => (
        <span key={at} title={bar.label} className={classNames('w-1.25', looks[bar.state])} />
      ))}
    </span>
  );
}
