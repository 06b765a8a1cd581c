import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { grantsQuery, tokensQuery, viewsQuery } from '../../api/queries.js';
import { ask } from '../../api/service.js';
import { texts } from '../../texts/index.js';
import { ConfirmDialog } from '../../ui/dialog.js';

const { views: t } = texts;

interface RemoveViewProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly slug: string;
}

export function RemoveView({ isOpen, onClose, slug }: RemoveViewProps) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const key = viewsQuery.queryKey;
  const { data: views = [] } = useQuery(viewsQuery);
  const { data: grants = [] } = useQuery(grantsQuery);
  const { data: tokens = [] } = useQuery(tokensQuery);
  const id = views.find((view) => view.slug === slug)?.id;
  const remove = useMutation({
    mutationFn: () => ask((api) => api.deleteView({ path: { slug } })),
    // The page of the view is left first: it would ask for what is being removed.
    onMutate: async () => {
      await navigate({ to: '/views', search: {} });
      await client.cancelQueries({ queryKey: key });
      const before = client.getQueryData(key);
      client.setQueryData(key, (all) => all?.filter((view) => view.slug !== slug));
      return { before };
    },
    onError: (_error, _given, saved) => client.setQueryData(key, saved?.before),
    onSettled: async () => {
      await client.invalidateQueries({ queryKey: ['views'] });
      await client.invalidateQueries({ queryKey: ['grants'] });
    },
  });
  return (
    <ConfirmDialog
      isOpen={isOpen}
      onClose={onClose}
      title={t.removeTitle(slug)}
      confirmLabel={t.removeDo(slug)}
      word={slug}
      busy={remove.isPending}
      onConfirm={() => remove.mutate()}
    >
      {t.removeEffect(
        grants.filter(({ view }) => view === slug).length,
        tokens.filter(({ view }) => view !== null && view.view_id === id).length,
      )}
    </ConfirmDialog>
  );
}
