import { infiniteQueryOptions, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { approvalsQuery, serversQuery } from '../../api/queries.js';
import { ask } from '../../api/service.js';
import { rowOfApproval, rowOfTool, type ToolRow } from '../../model/tool-row.js';

const PAGE = 500;

/** All tools, page by page: the first page is shown at once. */
const toolRowsQuery = infiniteQueryOptions({
  queryKey: ['tools', 'rows'],
  initialPageParam: 0,
  queryFn: ({ pageParam }) =>
    ask((api) => api.listToolRows({ query: { limit: PAGE, offset: pageParam } })),
  getNextPageParam: ({ next_offset: next }) => next,
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
  const { data: servers } = useQuery(serversQuery);
  useEffect(() => {
    if (hasNextPage && !isFetching && !error) void fetchNextPage();
  }, [hasNextPage, isFetching, error, fetchNextPage]);
  const rows = useMemo(() => {
    if (!data) return undefined;
    const waiting = (withheld?.approvals ?? [])
      .filter(({ kind }) => kind === 'tool')
      .map(rowOfApproval);
    const byName = new Map(servers?.map((server) => [server.name, server]));
    return [
      ...waiting,
      ...data.pages.flatMap(({ tools }) =>
        tools
          // Withheld ones are listed with their approval.
          .filter(({ status }) => status !== 'withheld')
          .map((tool) => rowOfTool(tool, byName.get(tool.server))),
      ),
    ];
  }, [data, withheld, servers]);
  return {
    rows,
    total: data?.pages[0]?.total ?? 0,
    isComplete: !hasNextPage,
    error,
    retry: () => void refetch(),
  };
}
