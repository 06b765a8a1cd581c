import type { StatsView } from '@app/api-client';
import type { StatsWindow } from '../api/queries.js';
import { useAddressState } from '../ui/tabs.js';

const windows: readonly StatsWindow[] = ['10m', '24h', '30d'];

/** The window of the page, in its address. */
export function useWindow(): [StatsWindow, (value: StatsWindow) => void] {
  const [value, setValue] = useAddressState('window', '10m');
  return [windows.find((window) => window === value) ?? '10m', setValue];
}

/** The series as the charts take them: one value for each step, per second or, over days, per day. */
export interface Columns {
  readonly isDaily: boolean;
  readonly total: number;
  readonly times: readonly number[];
  readonly calls: readonly number[];
  readonly errors: readonly number[];
  readonly p50: readonly (number | null)[];
  readonly p95: readonly (number | null)[];
}

const DAY_S = 86_400;

/** Steps without a call are left out of the answer: they are 0 calls, and no latency. */
export function columnsOf(stats: StatsView): Columns {
  const { step_seconds: step, from, to } = stats;
  const start = new Date(from).getTime() / 1_000;
  const steps = Math.max(1, Math.floor((new Date(to).getTime() / 1_000 - start) / step) + 1);
  const points = stats.series[0]?.points;
  const isDaily = step >= DAY_S;
  const spread = isDaily ? 1 : step;
  const fill = <T>(empty: T, column: readonly T[] | undefined): T[] => {
    const values = Array.from({ length: steps }, () => empty);
    points?.t.forEach((at, index) => {
      const value = column?.[index];
      if (value !== undefined && at >= 0 && at < steps) values[at] = value;
    });
    return values;
  };
  return {
    isDaily,
    total: stats.series[0]?.calls ?? 0,
    times: Array.from({ length: steps }, (_, at) => start + at * step),
    calls: fill(0, points?.calls).map((value) => value / spread),
    errors: fill(0, points?.errors).map((value) => value / spread),
    p50: fill<number | null>(null, points?.p50),
    p95: fill<number | null>(null, points?.p95),
  };
}
