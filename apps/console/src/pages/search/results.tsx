import type { FoundToolView, LeftOutToolView, SearchView } from '@app/api-client';
import { useQuery } from '@tanstack/react-query';
import { SearchX } from 'lucide-react';
import { texts } from '../../texts/index.js';
import { Banner } from '../../ui/banner.js';
import { Empty, ErrorPane, SkeletonRows } from '../../ui/pane.js';
import { useAddressState } from '../../ui/tabs.js';
import { HitRow } from './hit-row.js';
import { GhostRow } from './left-out.js';
import type { SearchConfig } from './search-config.js';
import { explainedSearchQuery } from './search-query.js';

const { search: t } = texts;

type Row =
  | { readonly kind: 'hit'; readonly hit: FoundToolView; readonly rank: number }
  | { readonly kind: 'ghost'; readonly tool: LeftOutToolView };

/** Hits by rank, and between them what is left out, at the place that it would have. */
function rowsOf({ tools, explanation }: SearchView, clause: string): readonly Row[] {
  const hits = tools.map((hit, at): Row => ({ kind: 'hit', hit, rank: at + 1 }));
  const ghosts = (explanation?.left_out ?? []).filter(
    ({ would_rank: rank }) => rank <= tools.length + 1,
  );
  const rows = [...hits];
  for (const tool of ghosts.toReversed()) {
    rows.splice(Math.min(tool.would_rank - 1, rows.length), 0, { kind: 'ghost', tool });
  }
  if (clause === '') return rows;
  return rows.filter(
    (row) => row.kind === 'hit' && String((row.hit.explanation?.clause ?? -1) + 1) === clause,
  );
}

interface ResultsProps {
  readonly query: string;
  readonly config: SearchConfig;
  /** In one of two columns, compared with the other. */
  readonly other?: SearchConfig;
}

export function Results({ query, config, other }: ResultsProps) {
  const [open, setOpen] = useAddressState('open', '');
  const [clause] = useAddressState('clause', '');
  const answer = useQuery(explainedSearchQuery(query, config));
  const { data: compared } = useQuery({
    ...explainedSearchQuery(query, other ?? config),
    enabled: other !== undefined && query.trim() !== '',
  });
  if (answer.isPending) return <SkeletonRows />;
  if (answer.isError) {
    return (
      <ErrorPane
        title={texts.errors.couldNotBeRead(t.results)}
        error={answer.error}
        onRetry={() => void answer.refetch()}
      />
    );
  }
  const { metadata, explanation, tools } = answer.data;
  const threshold = explanation?.tool_threshold ?? 0;
  const otherRankOf = (name: string): number | null => {
    const at = compared?.tools.findIndex((tool) => tool.name === name) ?? -1;
    return at < 0 ? null : at + 1;
  };
  const rows = rowsOf(answer.data, clause);
  return (
    <>
      {metadata.degraded_reason !== null && (
        <Banner kind="warn" className="mx-5 my-2">
          {t.degraded(metadata.degraded_reason)}
        </Banner>
      )}
      {metadata.no_good_match !== null && (
        <Banner kind="warn" className="mx-5 my-2">
          {metadata.no_good_match.message}
        </Banner>
      )}
      <ol>
        {rows.map((row) =>
          row.kind === 'ghost' ? (
            <GhostRow
              key={`ghost ${row.tool.id}`}
              tool={row.tool}
              view={config.view}
              threshold={threshold}
              isCompact={other !== undefined}
            />
          ) : (
            <HitRow
              key={row.hit.id}
              hit={row.hit}
              rank={row.rank}
              searchId={metadata.search_id}
              threshold={threshold}
              hasClauses={(explanation?.clauses.length ?? 0) > 0}
              isCompact={other !== undefined}
              otherRank={other && compared ? otherRankOf(row.hit.name) : undefined}
              isOpen={open === row.hit.name}
              onToggle={() => setOpen(open === row.hit.name ? '' : row.hit.name)}
            />
          ),
        )}
      </ol>
      {tools.length === 0 && (
        <Empty icon={SearchX} title={t.nothing}>
          {t.nothingHint}
        </Empty>
      )}
    </>
  );
}
