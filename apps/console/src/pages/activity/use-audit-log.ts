import type { AuditEntryView } from '@app/api-client';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { serversQuery } from '../../api/queries.js';
import { ask } from '../../api/service.js';
import { useMay } from '../../session/session.js';
import { type ActivityRow, type Filters, fits, rowOfEntry } from './rows.js';

const PAGE = 100;

interface AuditLog {
  readonly rows: readonly ActivityRow[];
  readonly isForAdmins: boolean;
  readonly isReading: boolean;
  readonly hasMore: boolean;
  readonly error: unknown;
  readonly readMore: () => void;
  readonly retry: () => void;
}

/** Entries have no id; no caller makes the same entry twice at one time. */
function idOf({ timestamp, event, actor, server_id: server, details }: AuditEntryView): string {
  return [timestamp, event, actor, server, JSON.stringify(details)].join(' ');
}

/** The audit log before this page was opened, newest first, page by page. Only admins may read it. */
export function useAuditLog(filters: Filters): AuditLog {
  const isAdmin = useMay('admin');
  const [openedAt] = useState(() => new Date().toISOString());
  const { data: servers } = useQuery(serversQuery);
  const serverId = servers?.find(({ name }) => name === filters.server)?.id;
  const query = {
    limit: PAGE,
    ...(filters.kind === 'call' && { event: 'tool.called' }),
    ...(filters.kind === 'refusal' && { event: 'access.refused' }),
    ...(serverId !== undefined && { server_id: serverId }),
  };
  const log = useInfiniteQuery({
    queryKey: ['audit', query],
    queryFn: ({ pageParam }) =>
      ask((api) =>
        api.listAuditEntries({ query: { ...query, ...(pageParam && { cursor: pageParam }) } }),
      ),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    enabled: isAdmin,
  });
  const entries = log.data?.pages.flatMap((page) => page.entries) ?? [];
  const rows = entries
    .filter(({ timestamp }) => timestamp < openedAt)
    .map((entry) => rowOfEntry(entry, idOf(entry)))
    .filter((row) => fits(row, filters));
  return {
    rows,
    isForAdmins: !isAdmin,
    isReading: log.isFetching,
    hasMore: log.hasNextPage,
    error: log.error ?? undefined,
    readMore: () => void log.fetchNextPage(),
    retry: () => void log.refetch(),
  };
}
