import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import type { ApprovalDetailView, ApprovalView } from '@app/api-client';
import { toast } from 'sonner';
import { approvalsQuery } from '../../api/queries.js';
import { ask } from '../../api/service.js';
import { texts } from '../../texts/index.js';

export const approvalQuery = (id: string) =>
  queryOptions({
    queryKey: ['approvals', 'one', id],
    queryFn: (): Promise<ApprovalDetailView> => ask((api) => api.getApproval({ path: { id } })),
  });

/** What waits at a server, and the hash that approving all of it expects. */
export const withheldQuery = (serverId: string) =>
  queryOptions({
    queryKey: ['servers', 'withheld', serverId],
    queryFn: async () =>
      (await ask((api) => api.getServer({ path: { id: serverId } }))).withheld ?? null,
  });

export const serverEventsQuery = (serverId: string) =>
  queryOptions({
    queryKey: ['servers', 'events', serverId],
    queryFn: async () =>
      (await ask((api) => api.listServerHistory({ path: { id: serverId }, query: { limit: 5 } })))
        .events,
  });

type Verdict = 'approve' | 'reject';

interface Decision {
  readonly approval: ApprovalView;
  readonly verdict: Verdict;
}

/** Leaves the list at once, and comes back with the reason when the service refuses. */
export function useDecide() {
  const client = useQueryClient();
  const { queryKey } = approvalsQuery;
  return useMutation({
    mutationFn: ({ approval, verdict }: Decision) => {
      const { id, expected_hash } = approval;
      const options = { path: { id }, body: { expected_hash } };
      return ask((api) =>
        verdict === 'approve' ? api.approveDefinition(options) : api.rejectDefinition(options),
      );
    },
    onMutate: async ({ approval, verdict }) => {
      await client.cancelQueries({ queryKey });
      const before = client.getQueryData(queryKey);
      client.setQueryData(queryKey, (list) => {
        if (!list) return list;
        const approvals =
          verdict === 'approve'
            ? list.approvals.filter(({ id }) => id !== approval.id)
            : list.approvals.map((one) =>
                one.id === approval.id ? { ...one, state: 'REJECTED' as const } : one,
              );
        return { ...list, approvals };
      });
      return before;
    },
    onError: (_error, _decision, before) => client.setQueryData(queryKey, before),
    onSuccess: (_answer, { approval, verdict }) =>
      toast.success(
        verdict === 'approve'
          ? texts.approvals.approved(approval.name)
          : texts.approvals.rejected(approval.name),
      ),
    onSettled: () => client.invalidateQueries({ queryKey: ['approvals'] }),
  });
}

interface ServerDecision {
  readonly serverId: string;
  readonly serverName: string;
  readonly expectedHash: string;
}

export function useApproveServer() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ serverId, expectedHash }: ServerDecision) =>
      ask((api) =>
        api.approveServer({ path: { id: serverId }, body: { expected_hash: expectedHash } }),
      ),
    onSuccess: ({ definitions }, { serverName }) =>
      toast.success(texts.approvals.approvedAll(definitions, serverName)),
    onSettled: () => {
      void client.invalidateQueries({ queryKey: ['approvals'] });
      void client.invalidateQueries({ queryKey: ['servers'] });
      void client.invalidateQueries({ queryKey: ['tools'] });
    },
  });
}
