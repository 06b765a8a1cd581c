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
  const { data: views = [] } = useQuery(viewsQuery);
  const { data: grants = [] } = useQuery(grantsQuery);
  const { data: tokens = [] } = useQuery(tokensQuery);
  const id = views.find((view) => view.slug === slug)?.id;
  const remove = useMutation({
    mutationFn: () => ask((api) => api.deleteView({ path: { slug } })),
    onSuccess: async () => {
      await navigate({ to: '/views', search: {} });
      await client.invalidateQueries({ queryKey: ['views'] });
      await client.invalidateQueries({ queryKey: ['grants'] });
    },
    onSettled: onClose,
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
