import { useQuery } from '@tanstack/react-query';
import { Plus, Webhook } from 'lucide-react';
import { useMay } from '../../session/session.js';
import { texts } from '../../texts/index.js';
import { Button } from '../../ui/button.js';
import { DataTable } from '../../ui/data-table.js';
import { Empty, ErrorPane, NoRight, SkeletonRows } from '../../ui/pane.js';
import { useAddressState } from '../../ui/tabs.js';
import { AddWebhook } from './add-webhook.js';
import { webhooksQuery } from './settings-queries.js';
import { webhookColumns } from './webhook-columns.js';

const { settings: t } = texts;

/** Programs outside that are told of changes. */
export function WebhookList() {
  const maySee = useMay('admin');
  const [adding, setAdding] = useAddressState('add', '');
  const webhooks = useQuery({ ...webhooksQuery, enabled: maySee });
  if (!maySee) return <NoRight>{t.webhooksNeedAdmin}</NoRight>;
  const add = (
    <Button icon={Plus} onClick={() => setAdding('webhook')}>
      {t.addWebhook}
    </Button>
  );
  const isEmpty = webhooks.data?.length === 0;
  return (
    <>
      {!isEmpty && (
        <div className="border-line flex flex-wrap items-center gap-3 border-b px-5 py-2.5">
          <span className="text-text-2 min-w-0 grow basis-60 text-small">{t.webhooksLead}</span>
          {add}
        </div>
      )}
      {webhooks.isError && (
        <ErrorPane
          title={texts.errors.couldNotBeRead(t.webhooks)}
          error={webhooks.error}
          onRetry={() => void webhooks.refetch()}
        />
      )}
      {webhooks.isPending && <SkeletonRows />}
      {webhooks.data && !isEmpty && (
        <DataTable
          label={t.webhooks}
          isTall
          columns={webhookColumns}
          groups={[{ id: 'all', label: '', rows: webhooks.data }]}
          idOf={({ id }) => id}
          nameOf={({ url }) => url}
        />
      )}
      {isEmpty && (
        <Empty icon={Webhook} title={t.webhookEmpty} action={add}>
          {t.webhookEmptyHint}
        </Empty>
      )}
      <AddWebhook isOpen={adding === 'webhook'} onClose={() => setAdding('')} />
    </>
  );
}
