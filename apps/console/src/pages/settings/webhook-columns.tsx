import type { WebhookView } from '@app/api-client';
import { texts } from '../../texts/index.js';
import { Badge } from '../../ui/badge.js';
import type { Column } from '../../ui/data-table.js';
import { StateMark } from '../../ui/state-mark.js';
import { TimeAgo } from '../../ui/time.js';
import { WebhookActions } from './webhook-actions.js';

const { settings: t } = texts;

export const webhookColumns: readonly Column<WebhookView>[] = [
  {
    id: 'url',
    head: t.webhookUrl,
    width: 'minmax(200px, 3fr)',
    cell: ({ url, description }) => (
      <span className="block min-w-0" title={url}>
        <span className="block truncate font-mono text-small font-medium">{url}</span>
        <span className="text-text-2 hidden truncate text-small tab:block">{description}</span>
      </span>
    ),
  },
  {
    id: 'topics',
    head: t.topics,
    width: 'minmax(140px, 2fr)',
    cell: ({ topics, servers }) => (
      <span className="block min-w-0">
        <span className="block truncate">
          {topics.map((topic) => t.topicNames[topic]).join(', ')}
        </span>
        <span className="text-text-2 block truncate text-small">
          {servers?.join(', ') ?? t.allServers}
        </span>
      </span>
    ),
  },
  {
    id: 'state',
    head: t.webhookState,
    width: 'minmax(150px, 1fr)',
    narrow: 'second',
    cell: (webhook) => <State webhook={webhook} />,
  },
  {
    id: 'delivered',
    head: t.webhookDelivered,
    width: '104px',
    cell: ({ delivered_at: at }) => <TimeAgo at={at} />,
  },
  {
    id: 'queue',
    head: <span className="sr-only">{t.waitingEvents(0)}</span>,
    width: '150px',
    cell: ({ waiting, dead }) => (
      <span className="flex gap-1.5">
        {waiting > 0 && <Badge>{t.waitingEvents(waiting)}</Badge>}
        {dead > 0 && <Badge tint="bad">{t.deadEvents(dead)}</Badge>}
      </span>
    ),
  },
  {
    id: 'actions',
    head: <span className="sr-only">{texts.views.moreActions}</span>,
    width: '32px',
    align: 'end',
    narrow: 'end',
    cell: (webhook) => <WebhookActions webhook={webhook} />,
  },
];

function State({ webhook }: { readonly webhook: WebhookView }) {
  const { enabled, failing_since: since, last_error: error, delivered_at: delivered } = webhook;
  if (!enabled) return <StateMark state="off">{t.webhookStates.off}</StateMark>;
  if (since !== null) {
    return (
      <span title={error ?? undefined} className="block min-w-0">
        <StateMark state="failing">
          {t.webhookStates.failing} <TimeAgo at={since} />
        </StateMark>
        <span className="text-text-2 hidden truncate text-small tab:block">{error}</span>
      </span>
    );
  }
  return delivered === null ? (
    <StateMark state="off">{t.webhookStates.idle}</StateMark>
  ) : (
    <StateMark state="ready">{t.webhookStates.ready}</StateMark>
  );
}
