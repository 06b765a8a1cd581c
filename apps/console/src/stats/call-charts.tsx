import { useQuery } from '@tanstack/react-query';
import { ChartLine as ChartIcon } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { texts } from '../texts/index.js';
import { clockTime, duration, percent } from '../ui/format.js';
import { Empty, ErrorPane, Pane } from '../ui/pane.js';
import { Segmented } from '../ui/segmented.js';
import { TimeChart } from '../ui/time-chart.js';
import type { ChartLine } from '../ui/time-chart-props.js';
import { statsQuery } from '../api/queries.js';
import { columnsOf, type Columns, useWindow } from './stats.js';

const { overview: t } = texts;

const windowOptions = [
  { value: '10m', label: t.windows['10m'] },
  { value: '24h', label: t.windows['24h'] },
  { value: '30d', label: t.windows['30d'] },
] as const;

const perSecond = (value: number): string =>
  value < 10 ? value.toFixed(1) : String(Math.round(value));
const whole = (value: number): string => String(Math.round(value));

interface CallChartsProps {
  /** Only the calls of this server, and of this tool there. */
  readonly of?: { readonly server: string; readonly tool: string };
  /** Without calls: the next step. */
  readonly empty: ReactNode;
}

/** Calls, latency and errors on one time axis with one crosshair. */
export function CallCharts({ of, empty }: CallChartsProps) {
  const [window, setWindow] = useWindow();
  const stats = useQuery(statsQuery(window, undefined, of?.server, of?.tool));
  const [at, setAt] = useState<number | null>(null);
  const columns = stats.data && columnsOf(stats.data);
  return (
    <Pane
      title={t.calls}
      aside={columns && at !== null && columns.times[at] !== undefined && timeOf(columns.times[at])}
      actions={
        <Segmented label={t.window} value={window} options={windowOptions} onChange={setWindow} />
      }
    >
      {stats.isError && !columns && (
        <ErrorPane
          title={texts.errors.couldNotBeRead(t.calls)}
          error={stats.error}
          onRetry={() => void stats.refetch()}
        />
      )}
      {columns?.total === 0 && (
        <Empty icon={ChartIcon} title={t.noCalls} action={empty}>
          {t.noCallsHint}
        </Empty>
      )}
      {columns !== undefined && columns.total > 0 && (
        <Charts columns={columns} at={at} onHover={setAt} />
      )}
    </Pane>
  );
}

function timeOf(seconds: number): string {
  return clockTime(new Date(seconds * 1_000));
}

interface ChartsProps {
  readonly columns: Columns;
  readonly at: number | null;
  readonly onHover: (at: number | null) => void;
}

function Charts({ columns, at, onHover }: ChartsProps) {
  const { times, isDaily, calls, errors, p50, p95 } = columns;
  const format = isDaily ? whole : perSecond;
  const common = { times, syncKey: 'calls', onHover };
  const shown = (values: readonly (number | null)[]): number | null =>
    at === null ? (values.findLast((value) => value !== null) ?? null) : (values[at] ?? null);
  const line = (
    label: string,
    color: string,
    values: ChartLine['values'],
    more = {},
  ): ChartLine => ({
    label,
    color,
    values,
    ...more,
  });
  const call = shown(calls) ?? 0;
  const error = shown(errors) ?? 0;
  return (
    <div className="px-5 pb-3">
      <Chart
        {...common}
        title={isDaily ? t.callsPerDay : t.callsPerSecond}
        lines={[line(t.calls, 'c1', calls, { isFilled: true })]}
        format={format}
        figures={[[format(call), '']]}
      />
      <Chart
        {...common}
        title={t.latency}
        isLogarithmic
        lines={[line('p95', 'c1', p95), line('p50', 'c1', p50, { isDashed: true })]}
        format={(value) => (value >= 1_000 ? `${value / 1_000} k` : String(value))}
        figures={[
          [milliseconds(shown(p95)), 'p95'],
          [milliseconds(shown(p50)), 'p50'],
        ]}
      />
      <Chart
        {...common}
        title={isDaily ? t.errorsPerDay : t.errorsPerSecond}
        lines={[line(t.errors, 'bad-mark', errors)]}
        format={format}
        height={130}
        hasTimes
        figures={[[format(error), t.ofCalls(percent(call === 0 ? 0 : error / call))]]}
      />
    </div>
  );
}

function milliseconds(value: number | null): string {
  return value === null ? '–' : duration(value);
}

interface ChartProps extends React.ComponentProps<typeof TimeChart> {
  /** The value at the crosshair, or the newest, and what it is. */
  readonly figures: readonly (readonly [value: string, what: string])[];
}

function Chart({ figures, ...chart }: ChartProps) {
  return (
    <div className="grid grid-cols-[minmax(0,1fr)_72px] gap-2 tab:grid-cols-[minmax(0,1fr)_104px]">
      <div className="min-w-0">
        <p className="text-text-2 pt-1 text-label">{chart.title}</p>
        <TimeChart {...chart} />
      </div>
      <div className="flex flex-col justify-center">
        {figures.map(([value, what]) => (
          <p key={what} className="text-small">
            <strong className="text-title font-semibold">{value}</strong>{' '}
            <span className="text-text-2">{what}</span>
          </p>
        ))}
      </div>
    </div>
  );
}
