import { useQuery } from '@tanstack/react-query';
import type { ServerView, StatsSeriesView } from '@app/api-client';
import { statsQuery } from '../../api/queries.js';
import { texts } from '../../texts/index.js';
import { duration, percent } from '../../ui/format.js';

const t = texts.servers;
const NONE = '–';
/** From here on a share of failed calls is marked. */
const MANY = 0.05;

/** The calls of the last 24 hours; every row reads the same answer. */
function useCalls({ id }: ServerView): StatsSeriesView | undefined {
  const { data } = useQuery(statsQuery('24h', 'server'));
  return data?.series.find((series) => series.server_id === id);
}

export function ErrorsCell({ server }: { readonly server: ServerView }) {
  const series = useCalls(server);
  if (!series || series.calls === 0) return <span title={t.noCalls}>{NONE}</span>;
  const share = series.errors / series.calls;
  return (
    <span
      title={t.callsOfDay(series.calls, series.errors)}
      className={share >= MANY ? 'text-bad' : undefined}
    >
      {percent(share)}
    </span>
  );
}

export function LatencyCell({ server }: { readonly server: ServerView }) {
  const p95 = useCalls(server)?.p95_ms ?? null;
  return p95 === null ? <span title={t.noCalls}>{NONE}</span> : duration(p95);
}
