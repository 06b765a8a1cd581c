import {
  infiniteQueryOptions,
  queryOptions,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query';
import type { CreateSkillDto, SkillView, SuggestionView, UpdateSkillDto } from '@app/api-client';
import { toast } from 'sonner';
import { ask } from '../../api/service.js';
import { texts } from '../../texts/index.js';

const TOOLS_PAGE = 100;

/** How many tools have skills, and how many have none. */
export const classifiedQuery = queryOptions({
  queryKey: ['tools', 'classified'],
  queryFn: async () => {
    const { classified, unclassified, total } = await ask((api) =>
      api.listTools({ query: { limit: 1 } }),
    );
    return { classified, unclassified, total };
  },
});

export const suggestionsQuery = queryOptions({
  queryKey: ['skills', 'suggestions'],
  queryFn: () =>
    ask((api) => api.listSkillSuggestions({ query: { status: 'PENDING', limit: 100 } })),
});

export const skillToolsQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['skills', 'tools', id],
    initialPageParam: 0,
    queryFn: ({ pageParam }) =>
      ask((api) =>
        api.listSkillTools({ path: { id }, query: { limit: TOOLS_PAGE, offset: pageParam } }),
      ),
    getNextPageParam: ({ offset, total, tools }) =>
      offset + tools.length < total && tools.length > 0 ? offset + tools.length : undefined,
  });

function useRefresh(): () => Promise<void> {
  const client = useQueryClient();
  return async () => {
    await client.invalidateQueries({ queryKey: ['skills'] });
    await client.invalidateQueries({ queryKey: ['tools'] });
  };
}

export type SkillChange =
  | { readonly kind: 'create'; readonly skill: CreateSkillDto }
  | { readonly kind: 'update'; readonly id: string; readonly change: UpdateSkillDto };

export function useSaveSkill() {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: (change: SkillChange): Promise<SkillView> =>
      change.kind === 'create'
        ? ask((api) => api.createSkill({ body: change.skill }))
        : ask((api) => api.updateSkill({ path: { id: change.id }, body: change.change })),
    meta: { showsError: true },
    onSuccess: async (_skill, { kind }) => {
      toast.success(kind === 'create' ? texts.skills.added : texts.skills.saved);
      await refresh();
    },
  });
}

export function useDeactivateSkill() {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: ({ id }: SkillView) => ask((api) => api.deactivateSkill({ path: { id } })),
    onSuccess: (_answer, { name }) => toast.success(texts.skills.deactivated(name)),
    onSettled: refresh,
  });
}

interface Review {
  readonly suggestion: SuggestionView;
  readonly verdict: 'approve' | 'reject';
}

/** Leaves the list at once, and comes back with the reason when the service refuses. */
export function useReviewSuggestion() {
  const client = useQueryClient();
  const refresh = useRefresh();
  const { queryKey } = suggestionsQuery;
  return useMutation({
    mutationFn: async ({ suggestion, verdict }: Review) => {
      const path = { id: suggestion.id };
      await ask((api) =>
        verdict === 'approve'
          ? api.approveSkillSuggestion({ path })
          : api.rejectSkillSuggestion({ path }),
      );
    },
    onMutate: async ({ suggestion }) => {
      await client.cancelQueries({ queryKey });
      const before = client.getQueryData(queryKey);
      client.setQueryData(
        queryKey,
        (list) =>
          list && {
            ...list,
            suggestions: list.suggestions.filter(({ id }) => id !== suggestion.id),
          },
      );
      return before;
    },
    onError: (_error, _review, before) => client.setQueryData(queryKey, before),
    onSuccess: (_answer, { suggestion, verdict }) =>
      toast.success(
        verdict === 'approve'
          ? texts.skills.approved(suggestion.name)
          : texts.skills.rejected(suggestion.name),
      ),
    onSettled: refresh,
  });
}
