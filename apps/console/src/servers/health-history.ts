import { queryOptions } from '@tanstack/react-query';
import type { HealthHistoryView, HealthIntervalView } from '@app/api-client';
import { ask } from '../api/service.js';
import { texts } from '../texts/index.js';
import { shortTime } from '../ui/format.js';
import type { BarState, HealthBar } from '../ui/health-strip.js';

export const healthWindows = ['24h', '7d', '30d'] as const;
export type HealthWindow = (typeof healthWindows)[number];

/** What happened before does not change, so it is not read at every visit; events make it stale. */
const STALE_MS = 60_000;

export const healthHistoryQuery = (id: string, window: HealthWindow = '24h') =>
  queryOptions({
    queryKey: ['health', id, window],
    queryFn: () => ask((api) => api.getServerHealthHistory({ path: { id }, query: { window } })),
    staleTime: STALE_MS,
  });

/** Names of states in health strips and bands. */
export function barStateOf({ state, needs_login: needsLogin }: HealthIntervalView): BarState {
  switch (state) {
    case 'CONNECTED':
      return 'ready';
    case 'DEGRADED':
      return 'slow';
    case 'ERROR':
      return needsLogin ? 'login' : 'failing';
    default:
      // DISCONNECTED, and what leads there or away from there.
      return 'off';
  }
}

/** Among the states of an hour the one that a person wants to know of. */
const severity: Readonly<Record<BarState, number>> = {
  ready: 1,
  off: 0,
  slow: 2,
  login: 3,
  failing: 4,
};

const HOURS = 24;

/** A bar an hour: the worst state in it; off only if it was nothing else. */
export function barsOf(history: HealthHistoryView): HealthBar[] {
  const [from, to] = [Date.parse(history.from), Date.parse(history.to)];
  const step = (to - from) / HOURS;
  return Array.from({ length: HOURS }, (_, hour) => {
    const [start, end] = [from + hour * step, from + (hour + 1) * step];
    const states = history.intervals
      .filter((one) => Date.parse(one.from) < end && Date.parse(one.to) > start)
      .map(barStateOf);
    const state = states.toSorted((a, b) => severity[b] - severity[a])[0] ?? 'off';
    const word = states.length === 0 ? texts.servers.notThere : texts.servers.barStates[state];
    return { state, label: `${shortTime(start)}–${shortTime(end)}: ${word}` };
  });
}
