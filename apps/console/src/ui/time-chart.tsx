import { lazy, Suspense } from 'react';
import type { TimeChartProps } from './time-chart-props.js';

const Canvas = lazy(() => import('./time-chart-canvas.js'));

/** A line over time. The library behind it is loaded with the first chart. */
export function TimeChart(props: TimeChartProps) {
  const { title, lines, format, height = 110 } = props;
  const said = lines.map(({ label, values }) => {
    const last = values.findLast((value) => value !== null) ?? null;
    return `${label} ${last === null ? '–' : format(last)}`;
  });
  return (
    <figure role="img" aria-label={`${title}: ${said.join(', ')}`} style={{ minHeight: height }}>
      <Suspense>
        <Canvas {...props} height={height} />
      </Suspense>
    </figure>
  );
}
