import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { Database } from '@app/platform';
import { KnownWebhooks } from '../known-webhooks.js';
import { WebhookStore } from '../rows/webhook.store.js';
import { SendersOfAll } from '../send/senders-of-all.js';

/** Nothing is sent to it after the answer; what waits is dropped. */
export class RemoveWebhook extends Command<void> {
  constructor(
    readonly id: string,
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(RemoveWebhook)
export class RemoveWebhookHandler implements ICommandHandler<RemoveWebhook> {
  constructor(
    private readonly database: Database,
    private readonly store: WebhookStore,
    private readonly known: KnownWebhooks,
    private readonly senders: SendersOfAll,
    private readonly audit: AuditStore,
  ) {}

  async execute({ id, actor }: RemoveWebhook): Promise<void> {
    await this.database.transaction(async (tx) => {
      await this.store.get(id, tx);
      await this.store.delete(id, tx);
      const details = { webhook_id: id };
      await this.audit.record({ event: 'webhook.removed', actor, details }, tx);
    });
    await this.senders.forget(id);
    await this.known.changed();
  }
}
