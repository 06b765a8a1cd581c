import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { AuditStore, SYSTEM } from '@app/access';
import { Clock, Database, Leadership } from '@app/platform';
import { UnreadableCredentials } from '@app/registry';
import { KnownWebhooks } from '../known-webhooks.js';
import { type Delivery, DeliveryStore, type WaitingLane } from '../rows/delivery.store.js';
import { WebhookStore } from '../rows/webhook.store.js';
import { MAX_ATTEMPTS, waitAfterMs, type WebhookTarget } from '../webhook.js';
import { PostDelivery } from './post-delivery.js';

/**
 * Lanes that are sent at the same time, of all webhooks and of one. A webhook without one gets one also when all are in
 * use, so that slow receivers hold up no other.
 */
const MAX_LANES = 32;
const MAX_LANES_OF_ONE = 8;
/** Sent one after the other, then deleted together; then the lane leaves its place to the one that waits longest. */
const BATCH = 20;
/** Without a notification. */
const LOOK_EVERY_MS = 5_000;
const AFTER_FAILURE_MS = 1_000;
const SOONEST_MS = 20;

interface RunningLane {
  readonly webhookId: string;
  /** Ends the lane, and cuts off what is on its way. */
  readonly cut: AbortController;
  readonly work: Promise<void>;
}

interface SentBatch {
  readonly sent: readonly string[];
  readonly failed: { readonly delivery: Delivery; readonly reason: string } | undefined;
}

/**
 * Sends what waits, at the replica that leads: events of a server in order, each until its receiver takes it or it is
 * given up. A crash between the sending and the deletion sends again.
 */
@Injectable()
export class DeliverySender implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('webhooks');
  private readonly lanes = new Map<string, RunningLane>();
  private readonly busy = new Map<string, number>();
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
      else this.cutAll('another replica leads');
    });
    this.known.onRedirected((id) => this.forget(id));
    this.wake();
  }

  /** What was sent is deleted before the database is closed. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stop.abort(new Error('the service stops'));
    clearTimeout(this.timer);
    this.cutAll('the service stops');
    await this.looking;
    await Promise.all([...this.lanes.values()].map(({ work }) => work));
  }

  /** Something may wait. */
  wake(): void {
    this.isWoken = true;
    this.lookIn(0);
  }

  /** The webhook was removed, or changed: its rows are read again before anything more is sent to it. */
  forget(webhookId: string): void {
    for (const lane of this.lanes.values()) {
      if (lane.webhookId === webhookId) lane.cut.abort(new Error('the webhook was changed'));
    }
    this.wake();
  }

  private cutAll(reason: string): void {
    for (const { cut } of this.lanes.values()) cut.abort(new Error(reason));
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
    const hasPlace = busy === 0 || (this.lanes.size < MAX_LANES && busy < MAX_LANES_OF_ONE);
    if (this.lanes.has(key) || !hasPlace || this.stop.signal.aborted) return;
    this.busy.set(webhookId, busy + 1);
    const cut = new AbortController();
    const work = this.sendBatch(webhookId, lane, cut.signal)
      .catch(async (error: unknown) => {
        this.logger.warn({ err: error, webhook: webhookId }, 'webhook.not_sent');
        await this.clock.sleep(AFTER_FAILURE_MS, this.stop.signal).catch(() => undefined);
      })
      .finally(() => {
        this.lanes.delete(key);
        this.leave(webhookId);
        // Another lane may wait for this place, and this one for its next events or its next attempt.
        this.wake();
      });
    this.lanes.set(key, { webhookId, cut, work });
  }

  private leave(webhookId: string): void {
    const busy = (this.busy.get(webhookId) ?? 1) - 1;
    if (busy > 0) this.busy.set(webhookId, busy);
    else this.busy.delete(webhookId);
  }

  /** Until the lane is cut, or an event is not taken. */
  private async sendBatch(webhookId: string, lane: string, signal: AbortSignal): Promise<void> {
    const due = await this.deliveries.due(webhookId, lane, BATCH);
    const [first] = due;
    if (!first) return;
    const target = await this.targetOf(webhookId);
    if (!target) return;
    const { sent, failed }: SentBatch =
      target instanceof UnreadableCredentials
        ? { sent: [], failed: { delivery: first, reason: target.message } }
        : await this.sendAll(target, due, signal);
    if (sent.length > 0) {
      await this.deliveries.delete(sent);
      await this.webhooks.noteDelivered(webhookId);
    }
    // What was cut off is no refusal.
    if (failed && !this.isOver(signal)) await this.noteFailed(failed.delivery, failed.reason);
  }

  private async targetOf(
    webhookId: string,
  ): Promise<WebhookTarget | UnreadableCredentials | undefined> {
    try {
      return await this.webhooks.target(webhookId);
    } catch (error) {
      if (error instanceof UnreadableCredentials) return error;
      throw error;
    }
  }

  private async sendAll(
    target: WebhookTarget,
    due: readonly Delivery[],
    signal: AbortSignal,
  ): Promise<SentBatch> {
    const sent: string[] = [];
    for (const delivery of due) {
      if (this.isOver(signal)) break;
      const reason = await this.post.post(target, delivery, signal);
      if (reason !== undefined) return { sent, failed: { delivery, reason } };
      sent.push(delivery.id);
    }
    return { sent, failed: undefined };
  }

  private isOver(signal: AbortSignal): boolean {
    return signal.aborted || !this.leadership.leads;
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
