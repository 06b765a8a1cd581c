import type { CreateWebhookDto } from '@app/api-client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useId } from 'react';
import { reasonOf } from '../../api/refused.js';
import { ask } from '../../api/service.js';
import { texts } from '../../texts/index.js';
import { Banner } from '../../ui/banner.js';
import { Button } from '../../ui/button.js';
import { CodeBlock } from '../../ui/code-block.js';
import { Dialog, Drawer } from '../../ui/dialog.js';
import { webhooksQuery } from './settings-queries.js';
import { WebhookForm } from './webhook-form.js';

const { settings: t } = texts;

interface AddWebhookProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

export function AddWebhook({ isOpen, onClose }: AddWebhookProps) {
  const form = useId();
  const client = useQueryClient();
  const add = useMutation({
    mutationFn: (body: CreateWebhookDto) => ask((api) => api.createWebhook({ body })),
    meta: { showsError: true },
    // The secret is held by this dialog only, and goes with it.
    gcTime: 0,
    onSettled: () => client.invalidateQueries({ queryKey: webhooksQuery.queryKey }),
  });
  const close = (): void => {
    add.reset();
    onClose();
  };
  if (add.data) return <Secret secret={add.data.secret} onClose={close} />;
  return (
    <Drawer
      isOpen={isOpen}
      onClose={close}
      title={t.addWebhook}
      footer={
        <>
          <Button onClick={close}>{texts.common.cancel}</Button>
          <Button type="submit" form={form} kind="primary" busy={add.isPending}>
            {t.addWebhook}
          </Button>
        </>
      }
    >
      <div className="grid gap-3 p-4">
        {add.isError && <Banner kind="bad">{reasonOf(add.error)}</Banner>}
        <WebhookForm id={form} onSubmit={(body) => add.mutate(body)} />
      </div>
    </Drawer>
  );
}

interface SecretProps {
  readonly secret: string;
  readonly onClose: () => void;
}

/** A click beside the dialog does not close it: the secret is shown only once. */
function Secret({ secret, onClose }: SecretProps) {
  return (
    <Dialog
      isOpen
      onClose={() => undefined}
      title={t.webhookSecret}
      footer={
        <Button kind="primary" onClick={onClose}>
          {t.secretDone}
        </Button>
      }
    >
      <Banner kind="warn" className="mb-3">
        {t.webhookSecretHint}
      </Banner>
      <CodeBlock code={secret} wrap />
    </Dialog>
  );
}
