import type { GrantView } from '@app/api-client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { UserRoundKey } from 'lucide-react';
import { useMemo } from 'react';
import { grantsQuery, viewsQuery } from '../../api/queries.js';
import { useMay } from '../../session/session.js';
import { texts } from '../../texts/index.js';
import { type Column, DataTable } from '../../ui/data-table.js';
import { FilterInput } from '../../ui/field.js';
import { FilterChip } from '../../ui/filter-chip.js';
import { Empty, ErrorPane, NoRight, SkeletonRows } from '../../ui/pane.js';
import { subjectOf } from '../../ui/policy/subjects.js';
import { WithdrawButton } from '../../ui/policy/withdraw-button.js';
import { useAddressState } from '../../ui/tabs.js';
import { Expiry } from './expiry.js';

const { access: t, policy: p } = texts;

export function GrantList() {
  const mayChange = useMay('admin');
  const [text, setText] = useAddressState('q', '');
  const [view, setView] = useAddressState('of', '');
  const grants = useQuery(grantsQuery);
  const { data: views = [] } = useQuery(viewsQuery);
  const columns = useMemo(() => columnsOf(mayChange), [mayChange]);
  const wanted = text.trim().toLowerCase();
  const shown = (grants.data ?? []).filter(
    (grant) =>
      (view === '' || grant.view === view) && subjectOf(grant).toLowerCase().includes(wanted),
  );
  return (
    <>
      <div className="border-line flex flex-wrap items-center gap-2 border-b px-5 py-2.5">
        <FilterInput
          label={t.filterGrants}
          value={text}
          onChange={(e) => setText(e.target.value)}
        />
        <FilterChip
          name={t.grantView.toLowerCase()}
          value={view}
          options={views.map(({ slug }) => ({ value: slug, label: slug }))}
          onChange={setView}
        />
      </div>
      {grants.isError && (
        <ErrorPane
          title={texts.errors.couldNotBeRead(t.grants)}
          error={grants.error}
          onRetry={() => void grants.refetch()}
        />
      )}
      {grants.isPending && <SkeletonRows />}
      {shown.length > 0 && (
        <DataTable
          label={t.grants}
          columns={columns}
          groups={[{ id: 'all', label: '', rows: shown }]}
          idOf={({ id }) => id}
          nameOf={subjectOf}
        />
      )}
      {grants.data && shown.length === 0 && (
        <Empty icon={UserRoundKey} title={grants.data.length === 0 ? t.emptyGrants : t.nothingFits}>
          {grants.data.length === 0 && t.emptyGrantsHint}
        </Empty>
      )}
      {!mayChange && <NoRight>{t.grantsNeedAdmin}</NoRight>}
    </>
  );
}

function columnsOf(mayChange: boolean): readonly Column<GrantView>[] {
  const columns: readonly Column<GrantView>[] = [
    {
      id: 'subject',
      head: t.subject,
      width: 'minmax(140px, 2fr)',
      cell: ({ subject_kind: kind, subject }) => (
        <>
          {p.subjectKinds[kind]} <span className="font-mono text-small font-medium">{subject}</span>
        </>
      ),
    },
    {
      id: 'view',
      head: t.grantView,
      width: 'minmax(100px, 1fr)',
      narrow: 'second',
      cell: ({ view }) => (
        <Link to="/views/$slug" params={{ slug: view }} className="font-mono text-small">
          {view}
        </Link>
      ),
    },
    {
      id: 'level',
      head: t.grantLevel,
      width: 'minmax(140px, 1fr)',
      narrow: 'second',
      cell: ({ level }) => p.levels[level],
    },
    {
      id: 'limit',
      head: t.limit,
      width: '140px',
      cell: ({ calls_per_minute: calls }) =>
        calls === null ? <span className="text-text-3">{t.noLimit}</span> : p.perMinute(calls),
    },
    {
      id: 'until',
      head: t.until,
      width: '112px',
      cell: ({ expires_at: at }) => <Expiry at={at} />,
    },
    { id: 'by', head: t.givenBy, width: 'minmax(96px, 1fr)', cell: ({ created_by: by }) => by },
  ];
  if (!mayChange) return columns;
  return [
    ...columns,
    {
      id: 'actions',
      head: <span className="sr-only">{p.withdraw}</span>,
      width: '32px',
      align: 'end',
      narrow: 'end',
      cell: (grant) => <WithdrawButton grant={grant} />,
    },
  ];
}
