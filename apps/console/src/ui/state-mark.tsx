import {
  CircleCheck,
  CircleMinus,
  CircleX,
  Gauge,
  KeyRound,
  LoaderCircle,
  type LucideIcon,
  ShieldAlert,
} from 'lucide-react';
import type { ReactNode } from 'react';
import { classNames } from './class-names.js';

/** The states of the console; what the service calls them is translated in `model/`. */
export type State = 'ready' | 'slow' | 'login' | 'withheld' | 'failing' | 'connecting' | 'off';

const marks: Readonly<
  Record<State, { readonly icon: LucideIcon; readonly word: string; readonly look: string }>
> = {
  ready: { icon: CircleCheck, word: 'Ready', look: 'text-ok' },
  slow: { icon: Gauge, word: 'Slow', look: 'text-warn' },
  login: { icon: KeyRound, word: 'Needs login', look: 'text-warn' },
  withheld: { icon: ShieldAlert, word: 'Withheld', look: 'text-warn' },
  failing: { icon: CircleX, word: 'Failing', look: 'text-bad' },
  connecting: { icon: LoaderCircle, word: 'Connecting', look: 'text-idle' },
  off: { icon: CircleMinus, word: 'Off', look: 'text-idle' },
};

interface StateMarkProps {
  readonly state: State;
  /** Instead of the usual word, such as `2 changed tools withheld`. */
  readonly children?: ReactNode;
  readonly className?: string;
}

/** Icon and word, always both: colour only helps. */
export function StateMark({ state, children, className }: StateMarkProps) {
  const { icon: Icon, word, look } = marks[state];
  return (
    <span
      className={classNames(
        'inline-flex items-center gap-1.5 align-middle font-medium whitespace-nowrap',
        look,
        className,
      )}
    >
      <Icon size={14} aria-hidden className="shrink-0" />
      {children ?? word}
    </span>
  );
}
