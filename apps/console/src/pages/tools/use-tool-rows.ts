import { infiniteQueryOptions, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { approvalsQuery } from '../../api/queries.js';
import { ask } from '../../api/service.js';
import { rowOfApproval, rowOfTool, type ToolRow } from '../../model/tool-row.js';

/** So many tools are less than 200 KB. */
const PAGE = 200;

/** All tools, page by page: the first page is shown at once. */
const toolRowsQuery = infiniteQueryOptions({
  queryKey: ['tools', 'rows'],
  initialPageParam: 0,
  queryFn: async ({ pageParam }) => {
    const { tools, total } = await ask((api) =>
      api.listTools({ query: { limit: PAGE, offset: pageParam } }),
    );
    return { rows: tools.map(rowOfTool), total, next: pageParam + tools.length };
  },
  getNextPageParam: ({ rows, next, total }) => (rows.length > 0 && next < total ? next : undefined),
  staleTime: 30_000,
});

export interface ToolRows {
  readonly rows: readonly ToolRow[] | undefined;
  readonly total: number;
  readonly isComplete: boolean;
  readonly error: unknown;
  readonly retry: () => void;
}

export function useToolRows(): ToolRows {
  const { data, error, hasNextPage, isFetching, fetchNextPage, refetch } =
    useInfiniteQuery(toolRowsQuery);
  const { data: withheld } = useQuery(approvalsQuery);
  useEffect(() => {
    if (hasNextPage && !isFetching && !error) void fetchNextPage();
  }, [hasNextPage, isFetching, error, fetchNextPage]);
  const rows = useMemo(() => {
    if (!data) return undefined;
    const waiting = (withheld?.approvals ?? [])
      .filter(({ kind }) => kind === 'tool')
      .map(rowOfApproval);
    return [...waiting, ...data.pages.flatMap((page) => page.rows)];
  }, [data, withheld]);
  return {
    rows,
    total: data?.pages[0]?.total ?? 0,
    isComplete: !hasNextPage,
    error,
    retry: () => void refetch(),
  };
}
