import type { LatencyPointView } from '@app/api-client';
import { texts } from '../../../texts/index.js';
import { duration } from '../../../ui/format.js';

const t = texts.server.health;
const HEIGHT = 56;
const TOP = 14;

interface LatencyDotsProps {
  readonly points: readonly LatencyPointView[];
  readonly xOf: (at: number) => number;
  readonly width: number;
}

/** How long health checks took, on a logarithmic axis, so that the usual and the unusual both read. */
export function LatencyDots({ points, xOf, width }: LatencyDotsProps) {
  const times = points.flatMap(({ p50_ms: p50, max_ms: max }) => [p50, max].filter(isKnown));
  const failures = points.reduce((sum, point) => sum + point.failures, 0);
  if (times.length === 0 && failures === 0) return null;
  const [low, high] = [Math.min(...times, 1), Math.max(...times, 10)];
  const yOf = (ms: number): number => {
    const share = Math.log(Math.max(ms, low) / low) / Math.log(high / low);
    return HEIGHT - 6 - share * (HEIGHT - TOP - 8);
  };
  const label = [t.latencyLabel(duration(high)), failures > 0 && t.failures(failures)];
  return (
    <svg
      role="img"
      aria-label={label.filter(Boolean).join('; ')}
      width={width}
      height={HEIGHT}
      className="block"
    >
      <text x={0} y={11} className="fill-(--text-3) text-label">
        {duration(high)} {t.latency}
      </text>
      {points.map((point) => (
        <Dots key={point.at} point={point} x={xOf(Date.parse(point.at))} yOf={yOf} />
      ))}
    </svg>
  );
}

interface DotsProps {
  readonly point: LatencyPointView;
  readonly x: number;
  readonly yOf: (ms: number) => number;
}

function Dots({ point: { p50_ms: p50, max_ms: max, failures }, x, yOf }: DotsProps) {
  return (
    <>
      {isKnown(p50) && <circle cx={x} cy={yOf(p50)} r={1.25} className="fill-(--c1)" />}
      {isKnown(p50) && isKnown(max) && max > 2 * p50 && (
        <circle cx={x} cy={yOf(max)} r={1.25} className="fill-(--warn-mark)" />
      )}
      {failures > 0 && (
        <path
          d={`M${x - 2} ${HEIGHT - 7}l4 4m0 -4l-4 4`}
          className="stroke-(--bad-mark)"
          strokeWidth={1.25}
        />
      )}
    </>
  );
}

function isKnown(ms: number | null): ms is number {
  return ms !== null;
}
