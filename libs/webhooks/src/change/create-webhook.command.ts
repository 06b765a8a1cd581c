import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { randomUUID } from 'node:crypto';
import { type Actor, AuditStore } from '@app/access';
import type { StateTopic } from '@app/activity';
import { Database } from '@app/platform';
import { KnownWebhooks } from '../known-webhooks.js';
import { WebhookStore } from '../rows/webhook.store.js';
import { newWebhookSecret, type Webhook } from '../webhook.js';
import { WebhookRules } from './webhook-rules.js';

export interface GivenWebhook {
  readonly url: string;
  readonly description: string | null;
  readonly topics: readonly StateTopic[];
  /** Names or ids; null for all. */
  readonly servers: readonly string[] | null;
  readonly enabled: boolean;
}

/** Its events are sent from now on. */
export class CreateWebhook extends Command<{
  readonly webhook: Webhook;
  readonly secret: string;
}> {
  constructor(
    readonly given: GivenWebhook,
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(CreateWebhook)
export class CreateWebhookHandler implements ICommandHandler<CreateWebhook> {
  constructor(
    private readonly database: Database,
    private readonly store: WebhookStore,
    private readonly rules: WebhookRules,
    private readonly known: KnownWebhooks,
    private readonly audit: AuditStore,
  ) {}

  async execute({
    given,
    actor,
  }: CreateWebhook): Promise<{ readonly webhook: Webhook; readonly secret: string }> {
    const { servers, ...about } = given;
    this.rules.checkUrl(given.url);
    const serverIds = servers && this.rules.serverIds(servers);
    const id = randomUUID();
    const secret = newWebhookSecret();
    const webhook = await this.database.transaction(async (tx) => {
      await this.store.insert({ ...about, id, serverIds, createdBy: actor.name }, secret, tx);
      const { origin } = new URL(given.url);
      const details = { webhook_id: id, origin, topics: [...given.topics] };
      await this.audit.record({ event: 'webhook.created', actor, details }, tx);
      return this.store.get(id, tx);
    });
    await this.known.changed();
    return { webhook, secret };
  }
}
