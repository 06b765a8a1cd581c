import type { HealthHistoryView } from '@app/api-client';
import { barStateOf, type HealthWindow } from '../../../servers/health-history.js';
import { texts } from '../../../texts/index.js';
import { classNames } from '../../../ui/class-names.js';
import { percent, plural, shortDay, shortTime } from '../../../ui/format.js';
import type { BarState } from '../../../ui/health-strip.js';
import { type Cluster, clustersOf, type Flag } from './flags.js';
import { LatencyDots } from './latency-dots.js';
import { useWidth } from './use-width.js';

const t = texts.server.health;

/** Ready is a low line, trouble fills the height: readable without colour. */
const looks: Readonly<Record<BarState, string>> = {
  ready: 'inset-y-0 bg-ok-weak border-b-3 border-ok-mark',
  slow: 'inset-y-0 bg-warn-weak border-b-12 border-warn-mark',
  failing: 'inset-y-0 bg-bad-mark',
  login: 'inset-y-0 bg-warn-weak border border-warn-mark',
  off: 'inset-y-0 border-b-2 border-idle-mark',
};

/** Of the shortest time, so that it is seen. */
const MIN_WIDTH = 3;

interface HealthBandProps {
  readonly history: HealthHistoryView;
  readonly flags: readonly Flag[];
  readonly window: HealthWindow;
}

/** States over time, the flags of the rows below, and how long health checks took. */
export function HealthBand({ history, flags, window }: HealthBandProps) {
  const [box, width] = useWidth<HTMLDivElement>();
  const [from, to] = [Date.parse(history.from), Date.parse(history.to)];
  const xOf = (at: number): number => Math.max(0, ((at - from) / (to - from)) * width);
  const clusters = clustersOf(flags, xOf, 26);
  return (
    <div ref={box} className="relative">
      <div aria-hidden className="relative h-7">
        {clusters.map((cluster, at) => (
          <FlagMark
            key={cluster.flags[0]?.number}
            cluster={cluster}
            room={(clusters[at + 1]?.x ?? width) - cluster.x}
            width={width}
          />
        ))}
      </div>
      <div
        role="img"
        aria-label={summaryOf(history, flags.length)}
        className="relative h-6 overflow-hidden"
      >
        {history.intervals.map((interval) => {
          const end = xOf(Date.parse(interval.to));
          const x = Math.min(xOf(Date.parse(interval.from)), width - MIN_WIDTH);
          return (
            <span
              key={interval.from}
              className={classNames('absolute', looks[barStateOf(interval)])}
              style={{ left: x, width: Math.max(MIN_WIDTH, end - x) }}
            />
          );
        })}
      </div>
      <LatencyDots points={history.latency} xOf={xOf} width={width} />
      <Axis from={from} to={to} xOf={xOf} window={window} width={width} />
    </div>
  );
}

export function summaryOf({ ready_share: share }: HealthHistoryView, events: number): string {
  return share === null ? t.neverOn : t.ready(percent(share), events);
}

interface FlagMarkProps {
  readonly cluster: Cluster;
  /** To the next flag. */
  readonly room: number;
  readonly width: number;
}

function FlagMark({ cluster: { x, flags }, room, width }: FlagMarkProps) {
  const [first, last] = [flags[0], flags.at(-1)];
  if (!first || !last) return null;
  const isAtEnd = x > width - 24;
  const numbers = first === last ? first.number : `${first.number}–${last.number}`;
  return (
    <span
      className={classNames(
        'absolute top-0 flex h-7 flex-col',
        isAtEnd ? 'items-end' : 'items-start',
      )}
      style={isAtEnd ? { right: 0 } : { left: Math.max(0, x - 10) }}
    >
      <span className="flex items-center gap-1.5">
        <span className="border-control-line bg-page grid h-5 min-w-5 place-items-center rounded-full border px-1 text-label font-medium">
          {numbers}
        </span>
        {room > 130 && !isAtEnd && (
          <span className="text-text-2 truncate text-label" style={{ maxWidth: room - 40 }}>
            {first === last ? first.text : plural(flags.length, 'event')}
          </span>
        )}
      </span>
      <span className={classNames('bg-control-line h-2 w-px', isAtEnd ? 'mr-2.5' : 'ml-2.5')} />
    </span>
  );
}

const HOUR_MS = 3_600_000;
/** Between the marks of the axis; fewer where there is no room. */
const steps: Readonly<Record<HealthWindow, number>> = {
  '24h': 3 * HOUR_MS,
  '7d': 24 * HOUR_MS,
  '30d': 5 * 24 * HOUR_MS,
};

interface AxisProps {
  readonly from: number;
  readonly to: number;
  readonly xOf: (at: number) => number;
  readonly window: HealthWindow;
  readonly width: number;
}

function Axis({ from, to, xOf, window, width }: AxisProps) {
  const step = steps[window] * (width < 500 ? 2 : 1);
  const offset = new Date(from).getTimezoneOffset() * 60_000;
  const first = Math.ceil((from - offset) / step) * step + offset;
  const marks: number[] = [];
  for (let at = first; at < to; at += step) marks.push(at);
  const isInside = (at: number): boolean => xOf(at) > 16 && xOf(at) < width - 52;
  return (
    <div aria-hidden className="text-text-3 border-line relative h-5 border-t text-label">
      {marks.filter(isInside).map((at) => (
        <span
          key={at}
          className="absolute -translate-x-1/2 whitespace-nowrap"
          style={{ left: xOf(at) }}
        >
          {window === '24h' ? shortTime(at) : shortDay(at)}
        </span>
      ))}
      <span className="text-text absolute right-0">{t.now}</span>
    </div>
  );
}
