import type { ConnectionView } from '@app/api-client';
import { useQuery } from '@tanstack/react-query';
import { KeySquare } from 'lucide-react';
import { connectionsQuery } from '../../api/queries.js';
import { texts } from '../../texts/index.js';
import { Badge, type Tint } from '../../ui/badge.js';
import { type Column, DataTable } from '../../ui/data-table.js';
import { Empty, ErrorPane, SkeletonRows } from '../../ui/pane.js';
import { TimeAgo } from '../../ui/time.js';

const { connections: t } = texts;

const tints: Readonly<Record<ConnectionView['status'], Tint>> = {
  connected: 'ok',
  needed: 'warn',
  none: 'idle',
};

interface OwnServersProps {
  /** The server that is shown beside the list. */
  readonly openName: string;
  readonly onOpen: (name: string) => void;
}

export function OwnServers({ openName, onOpen }: OwnServersProps) {
  const connections = useQuery(connectionsQuery);
  const { data } = connections;
  return (
    <>
      <p className="text-text-2 px-5 py-3">{t.serversLead}</p>
      {connections.isError && (
        <ErrorPane
          title={texts.errors.couldNotBeRead(t.servers)}
          error={connections.error}
          onRetry={() => void connections.refetch()}
        />
      )}
      {connections.isPending && <SkeletonRows />}
      {data && data.length > 0 && (
        <DataTable
          label={t.list}
          columns={columnsFor(onOpen)}
          groups={[{ id: 'all', label: '', rows: data }]}
          idOf={({ server_id: id }) => id}
          nameOf={({ server_name: name }) => name}
          onOpen={({ server_name: name }) => onOpen(name)}
          currentId={data.find(({ server_name: name }) => name === openName)?.server_id}
        />
      )}
      {data?.length === 0 && (
        <Empty icon={KeySquare} title={t.empty}>
          {t.emptyHint}
        </Empty>
      )}
    </>
  );
}

function columnsFor(onOpen: (name: string) => void): readonly Column<ConnectionView>[] {
  return [
    {
      id: 'server',
      head: t.server,
      width: 'minmax(140px, 2fr)',
      cell: ({ server_name: name }) => (
        <button
          type="button"
          className="max-w-full truncate font-mono text-small font-medium hover:underline"
          onClick={() => onOpen(name)}
        >
          {name}
        </button>
      ),
    },
    {
      id: 'how',
      head: t.how,
      width: 'minmax(112px, 2fr)',
      narrow: 'second',
      cell: ({ fields, uses_oauth: usesOAuth }) =>
        usesOAuth ? t.login : <span className="font-mono text-small">{t.keys(fields)}</span>,
    },
    {
      id: 'since',
      head: t.since,
      width: '96px',
      cell: ({ connected_at: at }) =>
        at === null ? (
          t.nothing
        ) : (
          <span className="text-text-2 text-small">
            <TimeAgo at={at} />
          </span>
        ),
    },
    {
      id: 'state',
      head: t.state,
      width: '120px',
      narrow: 'end',
      cell: ({ status }) => <Badge tint={tints[status]}>{t.states[status]}</Badge>,
    },
  ];
}
