import type { ViewView } from '@app/api-client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { toast } from 'sonner';
import { viewsQuery } from '../../api/queries.js';
import { ask } from '../../api/service.js';
import { texts } from '../../texts/index.js';
import { type Draft, documentOf, draftOf, isSameDraft } from './draft.js';

export interface ViewEdit {
  readonly draft: Draft;
  readonly isChanged: boolean;
  readonly isSaving: boolean;
  readonly problem: unknown;
  readonly change: (part: Partial<Draft>) => void;
  readonly undo: () => void;
  readonly save: () => void;
}

/** What is edited of a view. Without changes it follows what others save. */
export function useViewDraft(view: ViewView): ViewEdit {
  const client = useQueryClient();
  const saved = draftOf(view);
  const [edited, setEdited] = useState<Draft>();
  const draft = edited ?? saved;
  const put = useMutation({
    mutationFn: (given: Draft) =>
      ask((api) => api.replaceView({ path: { slug: view.slug }, body: documentOf(given) })),
    meta: { showsError: true },
    onSuccess: (now) => {
      client.setQueryData(viewsQuery.queryKey, (all) =>
        all?.map((one) => (one.id === now.id ? now : one)),
      );
      setEdited(undefined);
      toast.success(texts.views.saved(now.slug));
      void client.invalidateQueries({ queryKey: ['views'] });
    },
  });
  return {
    draft,
    isChanged: !isSameDraft(draft, saved),
    isSaving: put.isPending,
    problem: put.error,
    change: (part) => setEdited({ ...draft, ...part }),
    undo: () => {
      put.reset();
      setEdited(undefined);
    },
    save: () => put.mutate(draft),
  };
}
