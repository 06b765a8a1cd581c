import { useQuery } from '@tanstack/react-query';
import { Cable, Filter, PlugZap } from 'lucide-react';
import type { ClientSessionView } from '@app/api-client';
import { sessionsQuery } from '../../api/queries.js';
import { texts } from '../../texts/index.js';
import { Banner } from '../../ui/banner.js';
import { Button } from '../../ui/button.js';
import { FilterInput } from '../../ui/field.js';
import { FilterChip } from '../../ui/filter-chip.js';
import { LinkButton } from '../../ui/link-button.js';
import { PageHeader } from '../../ui/page-header.js';
import { Empty, ErrorPane, SkeletonRows } from '../../ui/pane.js';
import { useAddressState } from '../../ui/tabs.js';
import { SessionPanel } from './session-panel.js';
import { SessionsTable } from './sessions-table.js';

const t = texts.sessions;

export function SessionsPage() {
  const { data, error, isError, refetch } = useQuery(sessionsQuery);
  const filters = useFilters();
  const [openId, setOpenId] = useAddressState('id', '');
  const sessions = data?.sessions ?? [];
  const shown = sessions.filter((session) => fits(session, filters));
  return (
    <div className="flex min-h-full items-start">
      <div className="min-w-0 grow">
        <PageHeader title={t.title}>
          <LinkButton to="/connect" icon={PlugZap}>
            <span className="max-tab:sr-only">{t.connect}</span>
          </LinkButton>
        </PageHeader>
        {sessions.length > 0 && (
          <FilterBar filters={filters} sessions={sessions} shown={shown.length} />
        )}
        {data !== undefined && data.replicas_missing > 0 && (
          <Banner kind="warn" className="mx-5 my-3">
            {t.missing(data.replicas_missing)}
          </Banner>
        )}
        {isError && <ErrorPane title={t.notRead} error={error} onRetry={() => void refetch()} />}
        {data === undefined && !isError && <SkeletonRows />}
        {data !== undefined && sessions.length === 0 && (
          <Empty icon={Cable} title={t.none}>
            {t.noneHint}
          </Empty>
        )}
        {sessions.length > 0 && shown.length === 0 && (
          <Empty
            icon={Filter}
            title={t.noMatch}
            action={<Button onClick={filters.clear}>{t.clearFilters}</Button>}
          />
        )}
        {shown.length > 0 && <SessionsTable sessions={shown} openId={openId} onOpen={setOpenId} />}
      </div>
      {openId !== '' && data !== undefined && (
        <SessionPanel
          key={openId}
          session={sessions.find(({ id }) => id === openId)}
          onClose={() => setOpenId('')}
        />
      )}
    </div>
  );
}

interface Filters {
  readonly text: string;
  readonly view: string;
  readonly setText: (text: string) => void;
  readonly setView: (view: string) => void;
  readonly clear: () => void;
}

function useFilters(): Filters {
  const [text, setText] = useAddressState('q', '');
  const [view, setView] = useAddressState('view', '');
  const clear = (): void => {
    setText('');
    setView('');
  };
  return { text, view, setText, setView, clear };
}

function fits({ client_name: name, caller, endpoint, view }: ClientSessionView, filters: Filters) {
  const words = [name, caller, endpoint, view].filter(Boolean).join(' ').toLowerCase();
  const isInView = filters.view === '' || view === filters.view;
  return isInView && words.includes(filters.text.trim().toLowerCase());
}

interface FilterBarProps {
  readonly filters: Filters;
  readonly sessions: readonly ClientSessionView[];
  readonly shown: number;
}

function FilterBar({ filters, sessions, shown }: FilterBarProps) {
  const views = [...new Set(sessions.flatMap(({ view }) => view ?? []))];
  return (
    <div className="border-line flex flex-wrap items-center gap-2 border-b px-5 py-2">
      <FilterInput
        label={t.filter}
        value={filters.text}
        onChange={(event) => filters.setText(event.target.value)}
      />
      <FilterChip
        name={t.view}
        value={filters.view}
        options={views.map((value) => ({ value, label: value }))}
        onChange={filters.setView}
      />
      <span className="text-text-2 ml-auto text-small">{t.summary(shown, sessions.length)}</span>
    </div>
  );
}
