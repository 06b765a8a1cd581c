import { queryOptions } from '@tanstack/react-query';
import { ask } from '../../api/service.js';

/** Where a token goes in snippets; the service keeps hashes and cannot show one. */
export const PLACEHOLDER = 'YOUR_TOKEN';

export const endpoints = ['all', 'search'] as const;
export type Endpoint = (typeof endpoints)[number];

export const snippetsQuery = (endpoint: Endpoint, view: string) =>
  queryOptions({
    queryKey: ['clients', endpoint, view],
    queryFn: () =>
      ask((api) => api.listClientSnippets({ query: { endpoint, ...(view !== '' && { view }) } })),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Clients that install a server from a link. A link may be kept in a history, so it never holds a token. */
export const linkedClients = ['cursor', 'vscode'] as const;
export type LinkedClient = (typeof linkedClients)[number];

export function isLinked(client: string): client is LinkedClient {
  return linkedClients.some((one) => one === client);
}

export function installLink(client: LinkedClient, url: string): string {
  const bearer = (token: string) => ({ url, headers: { Authorization: `Bearer ${token}` } });
  switch (client) {
    case 'cursor': {
      const config = btoa(JSON.stringify(bearer('${env:SWITCHBOARD_TOKEN}')));
      return `cursor://anysphere.cursor-deeplink/mcp/install?name=switchboard&config=${encodeURIComponent(config)}`;
    }
    case 'vscode': {
      const input = {
        type: 'promptString',
        id: 'switchboard-token',
        description: 'Token for Switchboard',
        password: true,
      };
      const server = {
        name: 'switchboard',
        type: 'http',
        ...bearer('${input:switchboard-token}'),
        inputs: [input],
      };
      return `vscode:mcp/install?${encodeURIComponent(JSON.stringify(server))}`;
    }
    default:
      return client satisfies never;
  }
}
