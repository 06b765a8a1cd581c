import { useEffect, useRef, useSyncExternalStore } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { ChartLine, TimeChartProps } from './time-chart-props.js';

function token(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** Canvases take colours, not tokens: a change of theme draws anew. */
function useTheme(): string {
  return useSyncExternalStore(
    (listener) => {
      const observer = new MutationObserver(listener);
      observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
      return () => observer.disconnect();
    },
    () => document.documentElement.dataset['theme'] ?? 'light',
  );
}

function seriesOf({ label, color, isDashed, isFilled }: ChartLine): uPlot.Series {
  return {
    label,
    stroke: token(color),
    width: 1.5,
    spanGaps: false,
    points: { show: false },
    ...(isDashed && { dash: [2, 3] }),
    ...(isFilled && { fill: token('c-area') }),
  };
}

/** Room for the numbers of the axis. */
const AXIS_PX = 52;

/** One line for each power of ten, and none between them. */
function powersOfTen(_plot: uPlot, _axis: number, low: number, high: number): number[] {
  const first = Math.floor(Math.log10(Math.max(1, low)));
  const last = Math.ceil(Math.log10(Math.max(10, high)));
  return Array.from({ length: last - first + 1 }, (_, at) => 10 ** (first + at));
}

const timeFormat = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const dayFormat = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });

/** Steps of a day or more show days. */
function timeLabels(_plot: uPlot, values: number[], _axis: number, _space: number, step: number) {
  const format = step >= 86_400 ? dayFormat : timeFormat;
  return values.map((seconds) => format.format(new Date(seconds * 1_000)));
}

/** Whole decades, at least one. */
function decades(_plot: uPlot, low: number | null, high: number | null): [number, number] {
  const first = 10 ** Math.floor(Math.log10(Math.max(1, low ?? 1)));
  const last = 10 ** Math.ceil(Math.log10(Math.max(10, high ?? 10)));
  return [first, Math.max(last, first * 10)];
}

function options(props: TimeChartProps, width: number): uPlot.Options {
  const { lines, format, isLogarithmic = false, syncKey, height = 110, hasTimes = false } = props;
  const font = `11px ${token('font-ui')}`;
  const grid = { stroke: token('c-grid'), width: 1 };
  const axis = { stroke: token('text-3'), font, ticks: { show: false } };
  return {
    width,
    height,
    legend: { show: false },
    cursor: {
      sync: { key: syncKey },
      points: { size: 6 },
      drag: { x: false, y: false },
    },
    hooks: { setCursor: [(plot) => props.onHover?.(plot.cursor.idx ?? null)] },
    scales: {
      y: isLogarithmic
        ? { distr: 3 as const, range: decades }
        : { range: (_plot, _low, high) => [0, high > 0 ? high * 1.1 : 1] },
    },
    series: [{}, ...lines.map(seriesOf)],
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: hasTimes ? 26 : 8,
        values: hasTimes ? timeLabels : () => [],
      },
      {
        ...axis,
        grid,
        size: AXIS_PX,
        space: 36,
        ...(isLogarithmic && { splits: powersOfTen, filter: (_plot, splits) => splits }),
        values: (_plot, values) => values.map((value) => format(value)),
      },
    ],
    padding: [8, 16, 0, 0],
  };
}

function dataOf({ times, lines, isLogarithmic = false }: TimeChartProps): uPlot.AlignedData {
  // A logarithm of 0 does not exist: a latency below 1 ms is drawn as 1.
  const drawn = (value: number | null): number | null =>
    value === null ? null : isLogarithmic ? Math.max(1, value) : value;
  return [[...times], ...lines.map(({ values }) => values.map(drawn))];
}

/** Loaded by `TimeChart`. */
// oxlint-disable-next-line import/no-default-export -- React.lazy reads the default export.
export default function TimeChartCanvas(props: TimeChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const newest = useRef(props);
  useEffect(() => {
    newest.current = props;
    plot.current?.setData(dataOf(props));
  });
  const theme = useTheme();
  const shape = `${theme} ${props.lines.map(({ label }) => label).join()} ${props.hasTimes}`;
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const onHover = (index: number | null): void => newest.current.onHover?.(index);
    const current = { ...newest.current, onHover };
    const made = new uPlot(options(current, element.clientWidth), dataOf(current), element);
    plot.current = made;
    const observer = new ResizeObserver(() =>
      made.setSize({ width: element.clientWidth, height: made.height }),
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = undefined;
    };
  }, [shape]);
  return <div ref={place} className="w-full" />;
}
