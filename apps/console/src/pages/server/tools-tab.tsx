import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { Wrench } from 'lucide-react';
import type { ApprovalView, ServerToolView, ServerView, StatsSeriesView } from '@app/api-client';
import { statsQuery } from '../../api/queries.js';
import { texts } from '../../texts/index.js';
import { type Column, DataTable } from '../../ui/data-table.js';
import { count, duration } from '../../ui/format.js';
import { Empty, ErrorPane, SkeletonRows } from '../../ui/pane.js';
import { StateMark } from '../../ui/state-mark.js';
import { TimeAgo } from '../../ui/time.js';
import { MAX_TOOLS, serverApprovalsQuery, serverToolsQuery } from './server-queries.js';

const t = texts.server.tools;

/** A tool that is offered, or a definition that is withheld. */
type Row =
  | {
      readonly kind: 'offered';
      readonly tool: ServerToolView;
      /** Of the last 30 days; undefined if it was not called. */
      readonly calls: StatsSeriesView | undefined;
    }
  | { readonly kind: 'withheld'; readonly approval: ApprovalView };

function nameOf(row: Row): string {
  return row.kind === 'offered' ? row.tool.original_name : row.approval.name;
}

const columns: readonly Column<Row>[] = [
  {
    id: 'tool',
    head: t.columns.tool,
    width: 'minmax(120px, 3fr)',
    cell: (row) => <NameAndText row={row} />,
  },
  {
    id: 'definition',
    head: t.columns.definition,
    width: 'minmax(110px, 1fr)',
    narrow: 'end',
    cell: (row) => <Definition row={row} />,
  },
  {
    id: 'skills',
    head: t.columns.skills,
    width: 'minmax(80px, 1fr)',
    cell: (row) => (
      <span className="text-text-2 font-mono text-small">
        {row.kind === 'offered' ? row.tool.skill_ids.join(', ') : ''}
      </span>
    ),
  },
  {
    id: 'calls',
    head: t.columns.calls,
    width: '80px',
    align: 'end',
    narrow: 'second',
    cell: (row) => <Calls row={row} />,
  },
  {
    id: 'p95',
    head: t.columns.p95,
    width: '56px',
    align: 'end',
    cell: (row) => {
      const p95 = row.kind === 'offered' ? (row.calls?.p95_ms ?? null) : null;
      return p95 === null ? '–' : duration(p95);
    },
  },
  {
    id: 'since',
    head: t.columns.since,
    width: '64px',
    align: 'end',
    narrow: 'hidden',
    cell: (row) => (
      <span className="text-text-2 text-small">
        <TimeAgo
          at={row.kind === 'offered' ? row.tool.discovered_at : row.approval.changed_at}
          bare
        />
      </span>
    ),
  },
];

function NameAndText({ row }: { readonly row: Row }) {
  const name = <span className="font-mono text-small font-medium">{nameOf(row)}</span>;
  if (row.kind === 'withheld') return name;
  const { name: whole, description } = row.tool;
  return (
    <>
      <Link
        to="/tools/$name"
        params={{ name: whole }}
        className="!text-text no-underline hover:underline"
      >
        {name}
      </Link>
      <span className="text-text-3 ml-3 hidden text-small tab:inline" title={description}>
        {description.split('\n', 1)[0]}
      </span>
    </>
  );
}

function Calls({ row }: { readonly row: Row }) {
  if (row.kind === 'withheld') return '–';
  const { calls } = row;
  if (!calls) return <span className="text-text-3">{t.unused}</span>;
  return (
    <span title={t.failed(calls.errors)} className={calls.errors > 0 ? 'text-bad' : undefined}>
      {count(calls.calls)}
    </span>
  );
}

function Definition({ row }: { readonly row: Row }) {
  if (row.kind === 'offered') return <span className="text-text-2 text-small">{t.offered}</span>;
  const { approval } = row;
  return (
    <Link to="/approvals" search={{ id: approval.id }} className="no-underline">
      <StateMark state="withheld" className="text-small">
        {approval.state === 'REJECTED' ? t.rejected : approval.is_new ? t.isNew : t.changed}
      </StateMark>
    </Link>
  );
}

export function ToolsTab({ server }: { readonly server: ServerView }) {
  const navigate = useNavigate();
  const tools = useQuery(serverToolsQuery(server.id));
  const { data: approvals } = useQuery(serverApprovalsQuery(server.id));
  const withheld = (approvals?.approvals ?? []).filter(({ kind }) => kind === 'tool');
  const { data: stats } = useQuery(statsQuery('30d', 'tool', server.name));
  const callsOf = new Map(stats?.series.map((series) => [series.tool, series]));
  const rows: Row[] = [
    ...withheld.map((approval) => ({ kind: 'withheld' as const, approval })),
    ...(tools.data?.tools ?? []).map((tool) => ({
      kind: 'offered' as const,
      tool,
      calls: callsOf.get(tool.original_name),
    })),
  ];
  if (tools.isError) {
    return <ErrorPane title={t.notRead} error={tools.error} onRetry={() => void tools.refetch()} />;
  }
  if (tools.data === undefined) return <SkeletonRows />;
  if (rows.length === 0) {
    return (
      <Empty icon={Wrench} title={t.none}>
        {server.status === 'CONNECTED' ? t.noneListed : t.noneConnected}
      </Empty>
    );
  }
  return (
    <>
      <DataTable
        label={t.label}
        columns={columns}
        groups={[{ id: 'all', label: '', rows }]}
        idOf={(row) => (row.kind === 'offered' ? row.tool.id : `approval ${row.approval.id}`)}
        nameOf={nameOf}
        onOpen={(row) =>
          row.kind === 'offered'
            ? void navigate({ to: '/tools/$name', params: { name: row.tool.name } })
            : void navigate({ to: '/approvals', search: { id: row.approval.id } })
        }
      />
      {tools.data.total > MAX_TOOLS && (
        <p className="text-text-2 px-5 py-2 text-small">
          {t.first(MAX_TOOLS, tools.data.total)}{' '}
          <Link to="/tools" search={{ server: server.name }} className="underline">
            {t.all}
          </Link>
        </p>
      )}
    </>
  );
}
