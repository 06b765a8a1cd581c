import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { AuditStore, SYSTEM } from '@app/access';
import { Clock, Database, Leadership } from '@app/platform';
import { KnownWebhooks } from '../known-webhooks.js';
import { type Delivery, DeliveryStore, type WaitingLane } from '../rows/delivery.store.js';
import { WebhookStore } from '../rows/webhook.store.js';
import { MAX_ATTEMPTS, waitAfterMs, type WebhookTarget } from '../webhook.js';
import { PostDelivery } from './post-delivery.js';

/** Lanes that are sent at the same time: a slow receiver must not hold up the others. */
const MAX_LANES = 32;
const MAX_LANES_OF_ONE = 8;
/** Sent one after the other, then deleted together. */
const BATCH = 20;
/** Without a notification. */
const LOOK_EVERY_MS = 5_000;
const AFTER_FAILURE_MS = 1_000;
const SOONEST_MS = 20;

/**
 * Sends what waits, at the replica that leads: events of a server in order, each until its receiver takes it or it is
 * given up. A crash between the sending and the deletion sends again.
 */
@Injectable()
export class DeliverySender implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('webhooks');
  private readonly lanes = new Map<string, Promise<void>>();
  private readonly busy = new Map<string, number>();
  private readonly sending = new Map<string, Set<AbortController>>();
  private readonly removed = new Set<string>();
  private readonly stop = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> | undefined;
  private isWoken = false;

  constructor(
    private readonly webhooks: WebhookStore,
    private readonly known: KnownWebhooks,
    private readonly deliveries: DeliveryStore,
    private readonly post: PostDelivery,
    private readonly database: Database,
    private readonly audit: AuditStore,
    private readonly leadership: Leadership,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    this.leadership.onChange((leads) => {
      if (leads) this.wake();
      else this.abort();
    });
    this.wake();
  }

  /** What was sent is deleted before the database is closed. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stop.abort(new Error('the service stops'));
    clearTimeout(this.timer);
    this.abort();
    await this.looking;
    await Promise.all(this.lanes.values());
  }

  /** Something may wait. */
  wake(): void {
    this.isWoken = true;
    this.lookIn(0);
  }

  /** Sends nothing more to a webhook that was removed or changed; what is on its way is cut off. */
  forget(webhookId: string, isRemoved: boolean): void {
    if (isRemoved) this.removed.add(webhookId);
    for (const sending of this.sending.get(webhookId) ?? []) {
      sending.abort(new Error('the webhook was changed'));
    }
  }

  private abort(): void {
    for (const id of this.sending.keys()) this.forget(id, false);
  }

  private lookIn(ms: number): void {
    if (this.stop.signal.aborted) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.looking ??= this.look().finally(() => (this.looking = undefined));
    }, ms).unref();
  }

  private async look(): Promise<void> {
    if (!this.leadership.leads || !this.known.hasEnabled) return this.lookIn(LOOK_EVERY_MS);
    this.isWoken = false;
    let nextMs = LOOK_EVERY_MS;
    try {
      for (const lane of await this.deliveries.lanes()) {
        if (lane.dueInMs > 0) nextMs = Math.min(nextMs, lane.dueInMs);
        else this.begin(lane);
      }
    } catch (error) {
      this.logger.warn({ err: error }, 'webhook.not_sent');
    }
    this.lookIn(this.isWoken ? SOONEST_MS : Math.max(SOONEST_MS, Math.ceil(nextMs)));
  }

  private begin({ webhookId, lane }: WaitingLane): void {
    const key = `${webhookId} ${lane}`;
    const busy = this.busy.get(webhookId) ?? 0;
    if (this.lanes.has(key) || this.lanes.size >= MAX_LANES || busy >= MAX_LANES_OF_ONE) return;
    if (this.stop.signal.aborted || this.removed.has(webhookId)) return;
    this.busy.set(webhookId, busy + 1);
    const work = this.sendLane(webhookId, lane)
      .catch(async (error: unknown) => {
        this.logger.warn({ err: error, webhook: webhookId }, 'webhook.not_sent');
        await this.clock.sleep(AFTER_FAILURE_MS, this.stop.signal).catch(() => undefined);
      })
      .finally(() => {
        this.lanes.delete(key);
        this.busy.set(webhookId, (this.busy.get(webhookId) ?? 1) - 1);
        // Another lane may wait for this place, and this one for its next attempt.
        this.wake();
      });
    this.lanes.set(key, work);
  }

  /** Until the lane is empty, or an event is not taken. */
  private async sendLane(webhookId: string, lane: string): Promise<void> {
    const target = await this.webhooks.target(webhookId);
    if (!target) return;
    for (;;) {
      const due = await this.deliveries.due(webhookId, lane, BATCH);
      const sent: string[] = [];
      let failed: { readonly delivery: Delivery; readonly reason: string } | undefined;
      for (const delivery of due) {
        const reason = await this.sendOne(target, delivery);
        if (reason !== undefined) {
          failed = { delivery, reason };
          break;
        }
        sent.push(delivery.id);
      }
      if (sent.length > 0) {
        await this.deliveries.delete(sent);
        await this.webhooks.noteDelivered(webhookId);
      }
      if (failed && !this.isOver(webhookId)) await this.noteFailed(failed.delivery, failed.reason);
      if (failed || due.length < BATCH) return;
    }
  }

  private isOver(webhookId: string): boolean {
    return this.stop.signal.aborted || !this.leadership.leads || this.removed.has(webhookId);
  }

  private async sendOne(target: WebhookTarget, delivery: Delivery): Promise<string | undefined> {
    const { id } = target;
    if (this.isOver(id)) return 'it is not sent any more';
    const cut = new AbortController();
    const sending = this.sending.get(id) ?? new Set();
    this.sending.set(id, sending.add(cut));
    try {
      return await this.post.post(target, delivery, cut.signal);
    } finally {
      sending.delete(cut);
      if (sending.size === 0) this.sending.delete(id);
    }
  }

  private async noteFailed(
    { id, webhookId, attempts, topic }: Delivery,
    reason: string,
  ): Promise<void> {
    const isDead = attempts + 1 >= MAX_ATTEMPTS;
    await this.database.background.transaction(async (tx) => {
      await this.webhooks.noteFailed(webhookId, reason, isDead ? 1 : 0, tx);
      if (!isDead) return this.deliveries.postpone(id, waitAfterMs(attempts + 1), tx);
      await this.deliveries.delete([id], tx);
      const details = { webhook_id: webhookId, topic, attempts: attempts + 1, reason };
      const entry = { event: 'webhook.event_dead', actor: SYSTEM, details } as const;
      return this.audit.record({ ...entry, outcome: 'failure' }, tx);
    });
    if (isDead) this.logger.error({ webhook: webhookId, reason }, 'webhook.event_dead');
  }
}
