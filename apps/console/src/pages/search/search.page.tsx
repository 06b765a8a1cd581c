import { useQuery } from '@tanstack/react-query';
import { Columns2, Search as SearchIcon, X } from 'lucide-react';
import { stateQuery } from '../../api/queries.js';
import { texts } from '../../texts/index.js';
import { Button } from '../../ui/button.js';
import { CopyButton } from '../../ui/copy-button.js';
import { PageHeader } from '../../ui/page-header.js';
import { Empty } from '../../ui/pane.js';
import { Segmented } from '../../ui/segmented.js';
import { useAddressState } from '../../ui/tabs.js';
import { Clauses } from './clauses.js';
import { ConfigForm } from './config-form.js';
import { HowSearched } from './how-searched.js';
import { LeftOutPane } from './left-out.js';
import { Results } from './results.js';
import { ScoreLegend } from './score-bar.js';
import { SearchBox } from './search-box.js';
import { limits, type SearchConfig, useLimit, useSearchConfig } from './search-config.js';
import { explainedSearchQuery } from './search-query.js';

const { search: t } = texts;

export function SearchPage() {
  const [query, setQuery] = useAddressState('q', '');
  const [compared, setCompared] = useAddressState('compare', '');
  const [limit, setLimit] = useLimit();
  const a = useSearchConfig('');
  const b = useSearchConfig('-b');
  const { data: answer } = useQuery(explainedSearchQuery(query, a.config));
  const isAsked = query.trim() !== '';
  const isCompared = compared !== '' && isAsked;
  return (
    <>
      <PageHeader title={t.title}>
        <span className="hidden tab:block">
          <CopyButton text={window.location.href} label={texts.common.copyLink} small={false} />
        </span>
        <Button
          icon={compared === '' ? Columns2 : X}
          title={t.compareHint}
          onClick={() => setCompared(compared === '' ? '1' : '')}
        >
          <span className="sr-only tab:not-sr-only">
            {compared === '' ? t.compare : t.stopCompare}
          </span>
        </Button>
      </PageHeader>
      <div className="border-line grid gap-2.5 border-b px-5 py-4">
        <SearchBox
          query={query}
          took={isAsked && answer ? t.took(answer.metadata.total_time_ms) : undefined}
          onChange={setQuery}
        />
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
          {!isCompared && <ConfigForm label={t.settings} edit={a} />}
          <Segmented
            label={t.limit}
            value={limit}
            options={limits.map((value) => ({ value: value as string, label: value }))}
            onChange={setLimit}
          />
          <span className="ml-auto">
            <ScoreLegend threshold={isAsked ? answer?.explanation?.tool_threshold : undefined} />
          </span>
        </div>
        {isAsked && answer && <Clauses answer={answer} />}
      </div>
      {!isAsked && <Beginning />}
      {isAsked && !isCompared && <OneSearch query={query} config={a.config} />}
      {isCompared && (
        <div className="divide-line grid divide-y rail:grid-cols-2 rail:divide-x rail:divide-y-0">
          <section className="min-w-0" aria-label={t.resultsOf('A')}>
            <div className="border-line flex items-center gap-3 border-b px-5 py-2">
              <h2 className="font-semibold">A</h2>
              <ConfigForm label={t.settingsOf('A')} edit={a} />
            </div>
            <Results query={query} config={a.config} other={b.config} />
          </section>
          <section className="min-w-0" aria-label={t.resultsOf('B')}>
            <div className="border-line flex items-center gap-3 border-b px-5 py-2">
              <h2 className="font-semibold">B</h2>
              <ConfigForm label={t.settingsOf('B')} edit={b} />
            </div>
            <Results query={query} config={b.config} other={a.config} />
          </section>
        </div>
      )}
    </>
  );
}

interface OneSearchProps {
  readonly query: string;
  readonly config: SearchConfig;
}

function OneSearch({ query, config }: OneSearchProps) {
  const { data: answer } = useQuery(explainedSearchQuery(query, config));
  return (
    <div className="flex flex-col rail:flex-row">
      <section className="min-w-0 grow" aria-label={t.results}>
        <Results query={query} config={config} />
      </section>
      <aside className="border-line shrink-0 rail:min-h-full rail:w-80 rail:border-l">
        {answer && (
          <>
            <LeftOutPane
              tools={answer.explanation?.left_out}
              total={answer.explanation?.left_out_total ?? 0}
            />
            <HowSearched answer={answer} />
          </>
        )}
      </aside>
    </div>
  );
}

function Beginning() {
  const { data: state } = useQuery(stateQuery);
  return (
    <Empty icon={SearchIcon} title={t.emptyTitle}>
      {t.emptyHint(state?.total_tools ?? 0)}
    </Empty>
  );
}
