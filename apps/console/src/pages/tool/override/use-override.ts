import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { OverrideDto, ToolDetailView } from '@app/api-client';
import { toast } from 'sonner';
import { ask } from '../../../api/service.js';
import { texts } from '../../../texts/index.js';

/** Saves and removes the override of a tool for one view (empty: for every view). */
export function useChangeOverride(tool: ToolDetailView, view: string) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const query = view === '' ? {} : { view };
  const path = { id: tool.id };
  const refresh = async (): Promise<void> => {
    // The name in the address may be another one now; the id stays.
    await navigate({
      to: '/tools/$name',
      params: { name: tool.id },
      search: (before: Record<string, unknown>) => before,
      replace: true,
    });
    await Promise.all(
      ['policy', 'tools', 'views'].map((key) => client.invalidateQueries({ queryKey: [key] })),
    );
  };
  const save = useMutation({
    mutationFn: (body: OverrideDto) => ask((api) => api.setOverride({ path, query, body })),
    meta: { showsError: true },
    onSuccess: async () => {
      toast.success(texts.tool.saved);
      await refresh();
    },
  });
  const remove = useMutation({
    mutationFn: () => ask((api) => api.removeOverride({ path, query })),
    meta: { showsError: true },
    onSuccess: async () => {
      toast.success(texts.tool.removed);
      await refresh();
    },
  });
  return { save, remove };
}
