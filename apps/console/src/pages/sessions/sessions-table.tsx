import type { ClientSessionView } from '@app/api-client';
import { useMay } from '../../session/session.js';
import { texts } from '../../texts/index.js';
import { Badge } from '../../ui/badge.js';
import { type Column, DataTable } from '../../ui/data-table.js';
import { count } from '../../ui/format.js';
import { TimeAgo } from '../../ui/time.js';

const t = texts.sessions;
const eras = ['legacy', 'modern'] as const;

type Row = ClientSessionView;

export function nameOfClient({ client_name: name }: Row): string {
  return name ?? t.unnamed;
}

const columns: readonly Column<Row>[] = [
  {
    id: 'client',
    head: t.columns.client,
    width: 'minmax(140px, 2fr)',
    cell: (row) => (
      <>
        <span className="font-mono text-small font-medium">{nameOfClient(row)}</span>
        {row.client_version !== null && (
          <span className="text-text-3 ml-2 font-mono text-small">{row.client_version}</span>
        )}
      </>
    ),
  },
  {
    id: 'caller',
    head: t.columns.caller,
    width: 'minmax(90px, 1fr)',
    narrow: 'second',
    cell: ({ caller }) => <span className="font-mono text-small">{caller}</span>,
  },
  {
    id: 'view',
    head: t.columns.view,
    width: 'minmax(90px, 1fr)',
    narrow: 'second',
    cell: ({ view, endpoint }) => (
      <span className="font-mono text-small" title={endpoint}>
        {view ?? endpoint}
      </span>
    ),
  },
  {
    id: 'protocol',
    head: t.columns.protocol,
    width: '104px',
    cell: (row) => <Badge>{row.protocol_version}</Badge>,
  },
  {
    id: 'calls',
    head: t.columns.calls,
    width: '64px',
    align: 'end',
    cell: ({ calls }) => count(calls),
  },
  {
    id: 'running',
    head: t.columns.running,
    width: '64px',
    align: 'end',
    cell: ({ running }) => (running === 0 ? '–' : count(running)),
  },
  {
    id: 'seen',
    head: t.columns.seen,
    width: '88px',
    align: 'end',
    narrow: 'end',
    cell: ({ last_seen_at: at }) => (
      <span className="text-text-2 text-small">
        <TimeAgo at={at} />
      </span>
    ),
  },
];

interface SessionsTableProps {
  readonly sessions: readonly Row[];
  readonly openId: string;
  readonly onOpen: (id: string) => void;
}

/** Clients with a session, then stateless ones; last seen first. */
export function SessionsTable({ sessions, openId, onOpen }: SessionsTableProps) {
  const seesCallers = useMay('admin');
  const groups = eras.map((era) => ({
    id: era,
    label: t.eras[era],
    rows: sessions.filter((session) => session.era === era),
  }));
  return (
    <>
      <DataTable
        label={t.list}
        columns={columns.filter(({ id }) => seesCallers || id !== 'caller')}
        groups={groups.filter(({ rows }) => rows.length > 0)}
        idOf={({ id }) => id}
        nameOf={nameOfClient}
        onOpen={({ id }) => onOpen(id)}
        currentId={openId}
      />
      {!seesCallers && <p className="text-text-3 px-5 py-2 text-small">{t.onlyAdmins}</p>}
    </>
  );
}
