import type { ServerListView, ServerView } from '@app/api-client';
import { CliError, exitCodes } from '../exit-codes.js';
import type { RestClient } from '../rest-client.js';

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

type Status = ServerView['status'];

export interface ListedServers {
  readonly first: ServerListView;
  readonly items: readonly ServerView[];
}

export function allServers(rest: RestClient, status?: Status): Promise<ListedServers> {
  return rest.list(
    (api, page) => api.listServers({ query: { ...page, ...(status && { status }) } }),
    ({ servers }) => servers,
  );
}

/** The id of the server with this name or id. */
export async function serverId(rest: RestClient, name: string): Promise<string> {
  if (ID.test(name)) return name;
  const { items } = await allServers(rest);
  const found = items.find((server) => server.name === name);
  if (!found) {
    throw new CliError(`There is no server ${name}.`, exitCodes.notFound, 'SERVER_NOT_FOUND');
  }
  return found.id;
}
