import { queryOptions } from '@tanstack/react-query';
import { ask } from '../../api/service.js';

/** Calls and times move without an event. */
const REFRESH_MS = 5_000;
const PAGE = 500;

/** The clients that were seen last; there is one page, because more can only be found by a filter. */
export const sessionsQuery = queryOptions({
  queryKey: ['sessions'],
  queryFn: () => ask((api) => api.listClientSessions({ query: { limit: PAGE } })),
  refetchInterval: REFRESH_MS,
});
