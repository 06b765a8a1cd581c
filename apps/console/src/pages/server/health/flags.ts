import type { HealthHistoryView, HealthIntervalView } from '@app/api-client';
import { shortReason } from '../../../model/server-state.js';
import { barStateOf } from '../../../servers/health-history.js';
import { texts } from '../../../texts/index.js';
import type { BarState } from '../../../ui/health-strip.js';

const t = texts.server.health;

/** A time without a healthy connection, or a change: numbered on the band and in the rows below it. */
export interface Flag {
  readonly number: number;
  /** ms since 1970; a change has no duration. */
  readonly from: number;
  readonly to: number;
  readonly isOver: boolean;
  readonly kind: Exclude<BarState, 'ready'> | 'changed' | 'tools';
  readonly text: string;
  readonly attempts: number;
}

/** Connecting, and turning off and on, take a moment, which is no event. */
const SHORT_MS = 10_000;

const usual = { off: t.off, slow: t.slow, failing: t.failing, login: t.failing } as const;

function flagOf(interval: HealthIntervalView, end: number): Omit<Flag, 'number'> | undefined {
  const kind = barStateOf(interval);
  const [from, to] = [Date.parse(interval.from), Date.parse(interval.to)];
  const isOver = to < end;
  const isMoving = interval.state === 'CONNECTING' || interval.state === 'DISCONNECTING';
  const isMoment = kind === 'off' && isOver && to - from < SHORT_MS;
  if (kind === 'ready' || isMoment) return undefined;
  const { reason } = interval;
  const text = reason === null ? (isMoving ? t.connecting : usual[kind]) : shortReason(reason);
  return { from, to, isOver, kind, text, attempts: interval.attempts };
}

/** Oldest first. */
export function flagsOf({ intervals, events, to }: HealthHistoryView): Flag[] {
  const end = Date.parse(to);
  const changes = events.flatMap(({ at, kind, text }) => {
    if (kind !== 'changed' && kind !== 'tools') return [];
    const from = Date.parse(at);
    return [{ from, to: from, isOver: true, kind, text, attempts: 0 }];
  });
  return [...intervals.flatMap((interval) => flagOf(interval, end) ?? []), ...changes]
    .toSorted((a, b) => a.from - b.from)
    .map((flag, at) => ({ ...flag, number: at + 1 }));
}

/** Flags that stand so close that only one mark fits. */
export interface Cluster {
  readonly x: number;
  readonly flags: readonly Flag[];
}

export function clustersOf(
  flags: readonly Flag[],
  xOf: (at: number) => number,
  gap: number,
): Cluster[] {
  const clusters: { x: number; flags: Flag[] }[] = [];
  for (const flag of flags) {
    const x = xOf(flag.from);
    const last = clusters.at(-1);
    if (last && x - last.x < gap) last.flags.push(flag);
    else clusters.push({ x, flags: [flag] });
  }
  return clusters;
}
