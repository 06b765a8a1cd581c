import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnModuleInit,
} from '@nestjs/common';
import { ActivityFeed, type StateEvent } from '@app/activity';
import { Clock, Replicas } from '@app/platform';
import { KnownWebhooks } from '../known-webhooks.js';
import { DeliveryStore, type NewDelivery } from '../rows/delivery.store.js';
import { DELIVERIES_WAIT } from '../webhook.js';
import { DeliverySender } from './delivery-sender.js';

/** While the database does not answer. */
const MAX_HELD = 10_000;
const ROWS_PER_STATEMENT = 500;
const RETRY_MS = 1_000;

/**
 * Stores events for webhooks before the change that they tell of is answered, so that a crash afterwards loses none of
 * them. Events of one server are stored in the order in which they were told.
 */
@Injectable()
export class DeliveryOutbox implements OnModuleInit, BeforeApplicationShutdown {
  private readonly logger = new Logger('webhooks');
  private readonly stop = new AbortController();
  private held: NewDelivery[] = [];
  /** Beyond MAX_HELD since the last attempt. */
  private lost = 0;
  private running: Promise<void> = Promise.resolve();
  private next: Promise<void> | undefined;
  private hasFailed = false;

  constructor(
    private readonly feed: ActivityFeed,
    private readonly webhooks: KnownWebhooks,
    private readonly deliveries: DeliveryStore,
    private readonly sender: DeliverySender,
    private readonly replicas: Replicas,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.feed.storeWith((event) => this.take(event));
  }

  /** One more attempt, whether or not the last one failed. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stop.abort(new Error('the service stops'));
    await this.attempt();
  }

  private take({ topic, serverIds, text }: StateEvent): Promise<void> | undefined {
    const wanting = this.webhooks.wanting(topic, serverIds);
    if (wanting.length === 0) return undefined;
    const [only = topic, ...more] = serverIds;
    // Events about no server, or about several, have a lane for each topic.
    const lane = more.length > 0 ? topic : only;
    for (const webhookId of wanting) this.held.push({ webhookId, lane, topic, body: text });
    if (this.held.length > MAX_HELD) {
      this.lost += this.held.splice(0, this.held.length - MAX_HELD).length;
    }
    return this.attempt();
  }

  /**
   * The attempt that begins next, a second after one that failed. It stores all that is held then, or could not: many
   * events during an outage are one attempt a second, and none waits for more than two.
   */
  private attempt(): Promise<void> {
    return (this.next ??= this.pause().then(() => {
      this.next = undefined;
      return (this.running = this.store());
    }));
  }

  private async pause(): Promise<void> {
    await this.running;
    if (this.hasFailed) await this.clock.sleep(RETRY_MS, this.stop.signal).catch(() => undefined);
  }

  /** Never rejects. */
  private async store(): Promise<void> {
    if (this.lost > 0) this.logger.error({ events: this.lost }, 'webhook.events_lost');
    this.lost = 0;
    if (this.held.length === 0) return;
    // What comes meanwhile is stored by the next attempt, which it waits for.
    for (let left = this.held.length; left > 0; left -= ROWS_PER_STATEMENT) {
      const taken = this.held.splice(0, Math.min(left, ROWS_PER_STATEMENT));
      try {
        await this.deliveries.add(taken);
      } catch (error) {
        this.held.unshift(...taken);
        if (!this.hasFailed)
          this.logger.warn({ err: error, events: this.held.length }, 'webhook.events_not_stored');
        this.hasFailed = true;
        if (!this.stop.signal.aborted) void this.attempt();
        return;
      }
    }
    this.hasFailed = false;
    this.sender.wake();
    void this.replicas.tell(DELIVERIES_WAIT);
  }
}
