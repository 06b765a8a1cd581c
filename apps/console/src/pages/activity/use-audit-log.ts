import { useInfiniteQuery } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
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

/** The filters of the page as the audit log takes them; what it cannot say is filtered here (`fits`). */
export function auditQuery({ kind, outcome, server, text }: Filters) {
  return {
    ...(kind === 'call' && { kind: 'calls' as const }),
    ...(kind === 'change' && { kind: 'changes' as const }),
    ...(kind === 'refusal' && { outcome: 'refused' as const }),
    ...(kind !== 'refusal' && outcome === 'good' && { outcome: 'success' as const }),
    ...(server !== '' && { server }),
    ...(text !== '' && { text }),
  };
}

/** The audit log before this page was opened, newest first, page by page. Only admins may read it. */
export function useAuditLog(filters: Filters): AuditLog {
  const isAdmin = useMay('admin');
  const [openedAt] = useState(() => new Date().toISOString());
  const text = useDeferredValue(filters.text);
  const query = { ...auditQuery({ ...filters, text }), limit: PAGE, to: openedAt };
  const log = useInfiniteQuery({
    queryKey: ['audit', query],
    queryFn: ({ pageParam }) =>
      ask((api) =>
        api.listAuditEntries({ query: { ...query, ...(pageParam && { cursor: pageParam }) } }),
      ),
    initialPageParam: '',
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    // The log has calls, changes and refusals; other events are only live.
    enabled: isAdmin && filters.kind !== 'event',
    placeholderData: (before) => before,
  });
  const entries = log.data?.pages.flatMap((page) => page.entries) ?? [];
  return {
    rows: entries.map((entry) => rowOfEntry(entry)).filter((row) => fits(row, filters)),
    isForAdmins: !isAdmin,
    isReading: log.isFetching,
    hasMore: log.hasNextPage,
    error: log.error ?? undefined,
    readMore: () => void log.fetchNextPage(),
    retry: () => void log.refetch(),
  };
}
