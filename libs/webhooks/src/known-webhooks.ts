import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleInit } from '@nestjs/common';
import type { StateTopic } from '@app/activity';
import { CoalescedRuns, Replicas, RowWatches, Signal, whenChanged } from '@app/platform';
import { WEBHOOKS_MARK, WebhookStore } from './rows/webhook.store.js';
import { type Webhook, WEBHOOKS_CHANGED } from './webhook.js';

/** Which webhooks there are, in memory: an event that no webhook wants costs no query. */
@Injectable()
export class KnownWebhooks implements OnModuleInit, OnApplicationBootstrap {
  private readonly logger = new Logger('webhooks');
  private readonly reads = new CoalescedRuns();
  private readonly redirected = new Signal<string>('redirected webhooks');
  private webhooks: readonly Webhook[] = [];

  constructor(
    private readonly store: WebhookStore,
    private readonly replicas: Replicas,
    private readonly rows: RowWatches,
  ) {}

  onModuleInit(): void {
    this.rows.add({
      mark: WEBHOOKS_MARK,
      look: whenChanged(() => this.reload()),
      failed: (error) => this.failed(error),
    });
  }

  /** Before requests are served, so that no change is missed. */
  async onApplicationBootstrap(): Promise<void> {
    await this.tryReload();
  }

  /** Called for each webhook that was removed, switched on or off, or got another URL. */
  onRedirected(listener: (id: string) => void): () => void {
    return this.redirected.hear(listener);
  }

  get hasEnabled(): boolean {
    return this.webhooks.some(({ enabled }) => enabled);
  }

  /** Ids of those that want an event. */
  wanting(topic: StateTopic, serverIds: readonly string[]): readonly string[] {
    if (this.webhooks.length === 0) return [];
    return this.webhooks
      .filter(
        (webhook) =>
          webhook.enabled &&
          webhook.topics.includes(topic) &&
          (webhook.serverIds === null || webhook.serverIds.some((id) => serverIds.includes(id))),
      )
      .map(({ id }) => id);
  }

  reload(): Promise<void> {
    return this.reads.run('rows', async () => {
      const before = this.webhooks;
      this.webhooks = await this.store.all();
      for (const id of redirectedOf(before, this.webhooks)) void this.redirected.tell(id);
    });
  }

  /** After a change here. */
  async changed(): Promise<void> {
    await this.reload();
    await this.replicas.tell(WEBHOOKS_CHANGED);
  }

  /** After a failure `RowWatches` tries again. */
  async tryReload(): Promise<void> {
    try {
      await this.reload();
    } catch (error) {
      this.failed(error);
    }
  }

  private failed(error: unknown): void {
    this.logger.warn({ err: error }, 'webhook.not_reloaded');
  }
}

function redirectedOf(before: readonly Webhook[], after: readonly Webhook[]): readonly string[] {
  const now = new Map(after.map((webhook) => [webhook.id, webhook]));
  return before
    .filter(({ id, url, enabled }) => now.get(id)?.url !== url || now.get(id)?.enabled !== enabled)
    .map(({ id }) => id);
}
