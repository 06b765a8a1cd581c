import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { Database } from '@app/platform';
import { KnownWebhooks } from '../known-webhooks.js';
import { DeliveryStore } from '../rows/delivery.store.js';
import { WebhookStore } from '../rows/webhook.store.js';
import { SendersOfAll } from '../send/senders-of-all.js';
import type { Webhook } from '../webhook.js';
import type { GivenWebhook } from './create-webhook.command.js';
import { WebhookRules } from './webhook-rules.js';

/** Events that wait go to the new address; those of a webhook that is off wait until it is on. */
export class ChangeWebhook extends Command<Webhook> {
  constructor(
    readonly id: string,
    readonly given: Partial<GivenWebhook>,
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(ChangeWebhook)
export class ChangeWebhookHandler implements ICommandHandler<ChangeWebhook> {
  constructor(
    private readonly database: Database,
    private readonly store: WebhookStore,
    private readonly deliveries: DeliveryStore,
    private readonly rules: WebhookRules,
    private readonly known: KnownWebhooks,
    private readonly senders: SendersOfAll,
    private readonly audit: AuditStore,
  ) {}

  async execute({ id, given, actor }: ChangeWebhook): Promise<Webhook> {
    const { servers, ...about } = given;
    if (about.url !== undefined) this.rules.checkUrl(about.url);
    const serverIds = servers && this.rules.serverIds(servers);
    const { webhook, isRedirected } = await this.database.transaction(async (tx) => {
      const before = await this.store.get(id, tx);
      const changed = { ...before, ...about, ...(serverIds !== undefined && { serverIds }) };
      const hasOtherUrl = changed.url !== before.url;
      await this.store.update(id, changed, hasOtherUrl, tx);
      if (hasOtherUrl) await this.deliveries.beginAgain(id, tx);
      const details = { webhook_id: id, fields: Object.keys(given) };
      await this.audit.record({ event: 'webhook.updated', actor, details }, tx);
      const isRedirected = hasOtherUrl || changed.enabled !== before.enabled;
      return { webhook: await this.store.get(id, tx), isRedirected };
    });
    await this.known.changed();
    if (isRedirected) await this.senders.forget(id);
    return webhook;
  }
}
