import type { WebhookView } from '@app/api-client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Ellipsis, Power, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { ask } from '../../api/service.js';
import { texts } from '../../texts/index.js';
import { Button } from '../../ui/button.js';
import { ConfirmDialog } from '../../ui/dialog.js';
import { Menu } from '../../ui/menu.js';
import { webhooksQuery } from './settings-queries.js';

const { settings: t } = texts;

/** Both changes are shown at once, and taken back with the reason if they are refused. */
export function WebhookActions({
  webhook: { id, url, enabled, waiting },
}: {
  readonly webhook: WebhookView;
}) {
  const client = useQueryClient();
  const [isRemoving, setRemoving] = useState(false);
  const key = webhooksQuery.queryKey;
  const showNow = async (change: (all: WebhookView[]) => WebhookView[]) => {
    await client.cancelQueries({ queryKey: key });
    const before = client.getQueryData(key);
    client.setQueryData(key, (all) => all && change(all));
    return { before };
  };
  const settled = { onSettled: () => client.invalidateQueries({ queryKey: key }) };
  const turn = useMutation({
    mutationFn: () =>
      ask((api) => api.changeWebhook({ path: { id }, body: { enabled: !enabled } })),
    onMutate: () =>
      showNow((all) => all.map((one) => (one.id === id ? { ...one, enabled: !enabled } : one))),
    onError: (_error, _given, saved) => client.setQueryData(key, saved?.before),
    ...settled,
  });
  const remove = useMutation({
    mutationFn: () => ask((api) => api.removeWebhook({ path: { id } })),
    onMutate: () => showNow((all) => all.filter((one) => one.id !== id)),
    onError: (_error, _given, saved) => client.setQueryData(key, saved?.before),
    ...settled,
  });
  return (
    <>
      <Menu
        trigger={<Button kind="ghost" small icon={Ellipsis} aria-label={t.actionsOf(url)} />}
        items={[
          { label: enabled ? t.turnOff : t.turnOn, icon: Power, onSelect: () => turn.mutate() },
          {
            label: t.removeWebhook,
            icon: Trash2,
            isDangerous: true,
            onSelect: () => setRemoving(true),
          },
        ]}
      />
      <ConfirmDialog
        isOpen={isRemoving}
        onClose={() => setRemoving(false)}
        title={t.removeWebhookTitle}
        confirmLabel={t.removeWebhook}
        onConfirm={() => remove.mutate()}
      >
        {t.removeWebhookEffect(url, waiting)}
      </ConfirmDialog>
    </>
  );
}
