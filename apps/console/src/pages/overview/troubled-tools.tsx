import type { StatsSeriesView } from '@app/api-client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { texts } from '../../texts/index.js';
import { classNames } from '../../ui/class-names.js';
import { duration, percent } from '../../ui/format.js';
import { Pane } from '../../ui/pane.js';
import { ToolName } from '../../ui/tool-name.js';
import { statsQuery } from '../../api/queries.js';
import { useWindow } from '../../stats/stats.js';

const { overview: t } = texts;
const MOST_ROWS = 12;
/** A tool that takes longer is worth looking at. */
const SLOW_MS = 1_000;

const errorShare = ({ errors, calls }: StatsSeriesView): number =>
  calls === 0 ? 0 : errors / calls;
const isTroubled = (series: StatsSeriesView): boolean =>
  series.errors > 0 || (series.p95_ms ?? 0) >= SLOW_MS;

/** Tools that fail first, then those that are slow. */
export function TroubledTools() {
  const [window] = useWindow();
  const { data: stats } = useQuery(statsQuery(window, 'tool'));
  const rows = (stats?.series ?? [])
    .filter(isTroubled)
    .sort(
      (one, other) =>
        errorShare(other) - errorShare(one) || (other.p95_ms ?? 0) - (one.p95_ms ?? 0),
    )
    .slice(0, MOST_ROWS);
  return (
    <Pane
      title={t.failing}
      aside={t.failingHint(t.windows[window])}
      actions={
        <Link to="/tools" className="text-small">
          {t.allTools}
        </Link>
      }
    >
      {rows.length === 0 ? (
        <p className="text-text-2 px-5 py-2">{t.noFailing}</p>
      ) : (
        <table className="w-full">
          <thead className="text-text-2 text-left text-small">
            <tr className="border-line h-7 border-b [&>th]:font-normal">
              <th className="pl-5">{t.tool}</th>
              <th className="text-right">{t.calls}</th>
              <th className="text-right">{t.errorShare}</th>
              <th className="pr-5 text-right">{t.p95}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((series) => (
              <TroubledRow key={`${series.server}.${series.tool}`} series={series} />
            ))}
          </tbody>
        </table>
      )}
    </Pane>
  );
}

function TroubledRow({ series }: { readonly series: StatsSeriesView }) {
  const { server, tool, calls, errors, p95_ms: p95 } = series;
  const name = `${server ?? '?'}.${tool ?? '?'}`;
  return (
    <tr className="border-line hover:bg-hover h-(--row) border-b last:border-b-0">
      <td className="pl-5">
        <Link to="/tools/$name" params={{ name }} className="text-text">
          <ToolName name={name} />
        </Link>
      </td>
      <td className="text-right">{calls}</td>
      <td className={classNames('text-right', errors > 0 && 'text-bad')}>
        {percent(errorShare(series))}
      </td>
      <td className={classNames('pr-5 text-right', (p95 ?? 0) >= SLOW_MS && 'text-warn')}>
        {p95 === null ? '–' : duration(p95)}
      </td>
    </tr>
  );
}
