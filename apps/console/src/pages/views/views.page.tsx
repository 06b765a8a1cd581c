import type { GrantView, ViewView } from '@app/api-client';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Layers, Plus } from 'lucide-react';
import { useMemo } from 'react';
import { grantsQuery, viewsQuery } from '../../api/queries.js';
import { useMay } from '../../session/session.js';
import { texts } from '../../texts/index.js';
import { Button } from '../../ui/button.js';
import { CopyButton } from '../../ui/copy-button.js';
import { type Column, DataTable } from '../../ui/data-table.js';
import { FilterInput } from '../../ui/field.js';
import { count } from '../../ui/format.js';
import { ForScope } from '../../ui/for-scope.js';
import { PageHeader } from '../../ui/page-header.js';
import { Empty, ErrorPane, NoRight, SkeletonRows } from '../../ui/pane.js';
import { useAddressState } from '../../ui/tabs.js';
import { TimeAgo } from '../../ui/time.js';
import { CreateView } from './create-view.js';
import { addressOf } from './view-address.js';
import { OfferedCount, usersOf } from './view-summary.js';

const { views: t } = texts;

export function ViewsPage() {
  return (
    <ForScope scope="operate" title={t.title}>
      <Views />
    </ForScope>
  );
}

function Views() {
  const navigate = useNavigate();
  const mayChange = useMay('admin');
  const [text, setText] = useAddressState('q', '');
  const [adding, setAdding] = useAddressState('add', '');
  const views = useQuery(viewsQuery);
  const { data: grants = [] } = useQuery(grantsQuery);
  const columns = useMemo(() => columnsOf(grants), [grants]);
  const wanted = text.trim().toLowerCase();
  const shown = (views.data ?? []).filter(({ slug, title }) =>
    `${slug} ${title ?? ''}`.toLowerCase().includes(wanted),
  );
  return (
    <>
      <PageHeader title={t.title}>
        {mayChange && (
          <Button kind="primary" icon={Plus} onClick={() => setAdding('view')}>
            {t.create}
          </Button>
        )}
      </PageHeader>
      <div className="border-line flex flex-wrap items-center gap-3 border-b px-5 py-2.5">
        <FilterInput label={t.filter} value={text} onChange={(e) => setText(e.target.value)} />
        <span className="text-text-2 text-small">{t.lead}</span>
      </div>
      {views.isError && (
        <ErrorPane
          title={texts.errors.couldNotBeRead(t.title)}
          error={views.error}
          onRetry={() => void views.refetch()}
        />
      )}
      {views.isPending && <SkeletonRows />}
      {shown.length > 0 && (
        <DataTable
          label={t.title}
          isTall
          columns={columns}
          groups={[{ id: 'all', label: '', rows: shown }]}
          idOf={({ id }) => id}
          nameOf={({ slug }) => slug}
          onOpen={({ slug }) => void navigate({ to: '/views/$slug', params: { slug } })}
        />
      )}
      {views.data && shown.length === 0 && <Empty icon={Layers} title={t.nothingFits} />}
      {views.data?.length === 1 && mayChange && wanted === '' && (
        <Empty
          icon={Layers}
          title={t.emptyTitle}
          action={<Button onClick={() => setAdding('view')}>{t.create}</Button>}
        >
          {t.emptyHint}
        </Empty>
      )}
      {!mayChange && <NoRight>{t.needsAdmin}</NoRight>}
      <CreateView isOpen={adding !== '' && mayChange} onClose={() => setAdding('')} />
    </>
  );
}

function columnsOf(grants: readonly GrantView[]): readonly Column<ViewView>[] {
  return [
    {
      id: 'name',
      head: t.name,
      width: 'minmax(180px, 3fr)',
      cell: ({ slug, title, description }) => (
        <span className="block truncate">
          <span className="font-mono text-small font-medium">{slug}</span>
          <span className="text-text-2 hidden truncate text-small tab:block">
            {title ?? description}
          </span>
        </span>
      ),
    },
    {
      id: 'offers',
      head: t.offers,
      width: '96px',
      align: 'end',
      narrow: 'end',
      cell: (view) => <OfferedCount view={view} />,
    },
    {
      id: 'rules',
      head: t.rulesCount,
      width: '64px',
      align: 'end',
      cell: ({ rules }) => count(rules.length),
    },
    {
      id: 'users',
      head: t.usedBy,
      width: 'minmax(140px, 2fr)',
      narrow: 'second',
      cell: ({ slug }) => usersOf(grants.filter(({ view }) => view === slug)),
    },
    {
      id: 'address',
      head: t.address,
      width: 'minmax(180px, 2fr)',
      cell: ({ slug }) => (
        <span className="flex items-center gap-1">
          <span className="truncate font-mono text-small">{new URL(addressOf(slug)).pathname}</span>
          <CopyButton text={addressOf(slug)} />
        </span>
      ),
    },
    {
      id: 'changed',
      head: t.changed,
      width: '96px',
      cell: ({ updated_at: at }) => <TimeAgo at={at} />,
    },
  ];
}
