import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { ask } from '../../api/service.js';

/** Tools that the page of a server lists; the page of all tools lists the rest. */
export const MAX_TOOLS = 200;
const HISTORY_PAGE = 50;
const LOGS_MS = 3_000;

export const serverHealthQuery = (id: string) =>
  queryOptions({
    queryKey: ['health', id],
    queryFn: () => ask((api) => api.getServerHealth({ path: { id } })),
  });

export const serverToolsQuery = (id: string) =>
  queryOptions({
    queryKey: ['tools', 'server', id],
    queryFn: () => ask((api) => api.listServerTools({ path: { id }, query: { limit: MAX_TOOLS } })),
  });

/** Definitions of this server that wait for approval, or were rejected. */
export const serverApprovalsQuery = (id: string) =>
  queryOptions({
    queryKey: ['approvals', 'server', id],
    queryFn: () => ask((api) => api.listApprovals({ query: { server_id: id, limit: MAX_TOOLS } })),
  });

export const serverLogsQuery = (id: string, isFollowing: boolean) =>
  queryOptions({
    queryKey: ['logs', id],
    queryFn: async () => (await ask((api) => api.getServerLogs({ path: { id } }))).lines,
    refetchInterval: isFollowing && LOGS_MS,
  });

export const serverEventsQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['servers', id, 'history'],
    queryFn: ({ pageParam }) =>
      ask((api) =>
        api.listServerHistory({
          path: { id },
          query: { limit: HISTORY_PAGE, ...(pageParam !== '' && { cursor: pageParam }) },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor: next }) => next,
  });

export const querySettingsQuery = (name: string) =>
  queryOptions({
    queryKey: ['servers', name, 'query'],
    queryFn: () => ask((api) => api.getQuerySettings({ path: { name } })),
  });
