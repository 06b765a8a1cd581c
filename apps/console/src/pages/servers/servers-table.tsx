import { useNavigate } from '@tanstack/react-router';
import type { ServerView } from '@app/api-client';
import { stateOfServer } from '../../model/server-state.js';
import { texts } from '../../texts/index.js';
import { type Column, DataTable, type RowGroup, type Selection } from '../../ui/data-table.js';
import { StateMark } from '../../ui/state-mark.js';
import { HealthCell } from './health-cell.js';
import { ErrorsCell, LatencyCell } from './stats-cells.js';
import { LastEvent, NameCell, StateCell, ToolsCell } from './server-cells.js';

const t = texts.servers.columns;

const columns: readonly Column<ServerView>[] = [
  {
    id: 'server',
    head: t.server,
    width: 'minmax(110px, 1fr)',
    narrow: 'first',
    cell: (server) => <NameCell server={server} />,
  },
  {
    id: 'state',
    head: t.state,
    width: 'minmax(140px, 2fr)',
    narrow: 'end',
    cell: (server) => <StateCell server={server} />,
    narrowCell: (server) => <StateMark state={stateOfServer(server)} />,
  },
  {
    id: 'health',
    head: (
      <span className="flex justify-between">
        <span>{t.from}</span>
        <span>{t.to}</span>
      </span>
    ),
    width: '144px',
    narrow: 'hidden',
    cell: (server) => <HealthCell server={server} />,
  },
  {
    id: 'tools',
    head: t.tools,
    width: '64px',
    align: 'end',
    narrow: 'second',
    narrowCell: (server) => <LastEvent server={server} />,
    cell: (server) => <ToolsCell server={server} />,
  },
  {
    id: 'errors',
    head: t.errors,
    width: '56px',
    align: 'end',
    narrow: 'hidden',
    cell: (server) => <ErrorsCell server={server} />,
  },
  {
    id: 'p95',
    head: t.p95,
    width: '60px',
    align: 'end',
    narrow: 'hidden',
    cell: (server) => <LatencyCell server={server} />,
  },
];

interface ServersTableProps {
  readonly groups: readonly RowGroup<ServerView>[];
  readonly selection: Selection | undefined;
}

export function ServersTable({ groups, selection }: ServersTableProps) {
  const navigate = useNavigate();
  return (
    <DataTable
      label={texts.servers.list}
      columns={columns}
      groups={groups}
      idOf={({ id }) => id}
      nameOf={({ name }) => name}
      onOpen={({ name }) => void navigate({ to: '/servers/$name', params: { name } })}
      {...(selection && { selection })}
      isTall
    />
  );
}
