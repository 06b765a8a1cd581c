import type { ServerView } from '@app/api-client';
import { needOfServer, serverNeeds, stateOfServer } from '../../model/server-state.js';
import { texts } from '../../texts/index.js';
import type { RowGroup } from '../../ui/data-table.js';
import { useAddressState } from '../../ui/tabs.js';

export interface ServerFilters {
  readonly text: string;
  readonly state: string;
  readonly transport: string;
  readonly setText: (value: string) => void;
  readonly setState: (value: string) => void;
  readonly setTransport: (value: string) => void;
}

export function useServerFilters(): ServerFilters {
  const [text, setText] = useAddressState('q', '');
  const [state, setState] = useAddressState('state', '');
  const [transport, setTransport] = useAddressState('transport', '');
  return { text, state, transport, setText, setState, setTransport };
}

export function isFiltered({ text, state, transport }: ServerFilters): boolean {
  return text !== '' || state !== '' || transport !== '';
}

export function filtered(servers: readonly ServerView[], filters: ServerFilters): ServerView[] {
  const wanted = filters.text.trim().toLowerCase();
  return servers.filter(
    (server) =>
      `${server.name} ${server.description ?? ''}`.toLowerCase().includes(wanted) &&
      (filters.state === '' || stateOfServer(server) === filters.state) &&
      (filters.transport === '' || server.transport_type.toLowerCase() === filters.transport),
  );
}

/** What needs a person first. */
export function groupsOf(servers: readonly ServerView[]): RowGroup<ServerView>[] {
  return serverNeeds
    .map((need) => ({
      id: need,
      label: texts.servers.needs[need],
      rows: servers.filter((server) => needOfServer(server) === need),
    }))
    .filter(({ rows }) => rows.length > 0);
}
