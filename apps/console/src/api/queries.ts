import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { ServerView } from '@app/api-client';
import { ask } from './service.js';

/**
 * What pages read. The first member of a key says what it is about: events make it stale by that name
 * (`live/refresh-on-events.ts`). Queries of a single page stand beside the page.
 */

/** Largest page of a list. */
const PAGE = 500;

/** Reads a list page by page. */
async function readAll<Page extends { readonly total: number }, Item>(
  read: (offset: number) => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[],
): Promise<Item[]> {
  const items: Item[] = [];
  for (;;) {
    const page = await read(items.length);
    const more = itemsOf(page);
    items.push(...more);
    if (more.length === 0 || items.length >= page.total) return items;
  }
}

export const stateQuery = queryOptions({
  queryKey: ['state'],
  queryFn: () => ask((api) => api.getState()),
});

export const serversQuery = queryOptions({
  queryKey: ['servers'],
  queryFn: (): Promise<ServerView[]> =>
    readAll(
      (offset) => ask((api) => api.listServers({ query: { limit: PAGE, offset } })),
      (page) => page.servers,
    ),
});

/** How many definitions wait for a decision. */
export const withheldCountQuery = queryOptions({
  queryKey: ['approvals', 'count'],
  queryFn: async () =>
    (await ask((api) => api.listApprovals({ query: { limit: 1, state: 'PENDING' } }))).total,
});

/** Names of tools that fit a text, for the palette. */
export const toolNamesQuery = (text: string) =>
  queryOptions({
    queryKey: ['tools', 'names', text],
    queryFn: async () => {
      const { tools } = await ask((api) => api.searchTools({ body: { query: text, limit: 8 } }));
      return tools.map(({ name }) => name);
    },
    enabled: text.trim().length > 1,
    placeholderData: (before: string[] | undefined) => before,
  });

/** A server that changes everything at once has thousands; the rest follows as these are decided on. */
const APPROVALS = 500;

/** What is withheld: what waits for a decision, and what a person keeps back. */
export const approvalsQuery = queryOptions({
  queryKey: ['approvals', 'list'],
  queryFn: () => ask((api) => api.listApprovals({ query: { limit: APPROVALS } })),
});

/** The first definitions that wait for a decision. */
export const pendingApprovalsQuery = queryOptions({
  queryKey: ['approvals', 'pending'],
  queryFn: async () =>
    (await ask((api) => api.listApprovals({ query: { limit: 100, state: 'PENDING' } }))).approvals,
});

export const viewsQuery = queryOptions({
  queryKey: ['views'],
  queryFn: () =>
    readAll(
      (offset) => ask((api) => api.listViews({ query: { limit: PAGE, offset } })),
      (page) => page.views,
    ),
});

/** Of all views. */
export const grantsQuery = queryOptions({
  queryKey: ['grants'],
  queryFn: () =>
    readAll(
      (offset) => ask((api) => api.listGrants({ query: { limit: PAGE, offset } })),
      (page) => page.grants,
    ),
});

export const tokensQuery = queryOptions({
  queryKey: ['tokens'],
  queryFn: () =>
    readAll(
      (offset) => ask((api) => api.listTokens({ query: { limit: PAGE, offset } })),
      (page) => page.tokens,
    ),
});

/** What the person who is logged in uses servers with. */
export const connectionsQuery = queryOptions({
  queryKey: ['connections'],
  queryFn: async () => (await ask((api) => api.listConnections())).connections,
});

/** What OAuth clients were given. */
export const clientGrantsQuery = queryOptions({
  queryKey: ['client-grants'],
  queryFn: () =>
    readAll(
      (offset) => ask((api) => api.listOAuthGrants({ query: { limit: PAGE, offset } })),
      (page) => page.grants,
    ),
});

/** The active skills, with how many tools have each. */
export const skillsQuery = queryOptions({
  queryKey: ['skills', 'list'],
  queryFn: () =>
    readAll(
      (offset) => ask((api) => api.listSkills({ query: { limit: PAGE, offset } })),
      (page) => page.skills,
    ),
});

export type StatsWindow = '10m' | '24h' | '30d';

/** How often the newest step of a window is worth reading again. */
const refreshMs: Readonly<Record<StatsWindow, number>> = {
  '10m': 2_000,
  '24h': 30_000,
  '30d': 300_000,
};

/** Calls, errors and durations: in all, by server or by tool; of one server with its name. */
export const statsQuery = (
  window: StatsWindow,
  by?: 'server' | 'tool',
  server?: string,
  tool?: string,
) =>
  queryOptions({
    queryKey: ['stats', window, by, server, tool],
    queryFn: () =>
      ask((api) =>
        api.getStats({
          query: { window, ...(by && { by }), ...(server && { server }), ...(tool && { tool }) },
        }),
      ),
    refetchInterval: refreshMs[window],
    placeholderData: keepPreviousData,
  });

/** With its connection, secrets masked. */
export const serverQuery = (id: string) =>
  queryOptions({
    queryKey: ['servers', id],
    queryFn: () => ask((api) => api.getServer({ path: { id } })),
  });

/** Calls and times move without an event. */
const SESSIONS_MS = 5_000;

/** The clients that were seen last; there is one page, because more can only be found by a filter. */
export const sessionsQuery = queryOptions({
  queryKey: ['sessions'],
  queryFn: () => ask((api) => api.listClientSessions({ query: { limit: PAGE } })),
  refetchInterval: SESSIONS_MS,
});
