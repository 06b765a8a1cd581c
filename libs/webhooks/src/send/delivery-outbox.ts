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
/** The lane of events about no server, or about several. */
const NO_SERVER = '';

/**
 * Stores events for webhooks before the change that they tell of is answered, so that a crash afterwards loses none of
 * them. Events of one server are stored in the order in which they were told.
 */
@Injectable()
export class DeliveryOutbox implements OnModuleInit, BeforeApplicationShutdown {
  private readonly logger = new Logger('webhooks');
  private held: NewDelivery[] = [];
  private storing: Promise<void> | undefined;
  private isStopping = false;
  /** What is held could not be stored, which was logged. */
  private isOutage = false;

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

  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await this.storing;
    await this.store();
  }

  private take({ topic, serverIds, text }: StateEvent): Promise<void> | undefined {
    const wanting = this.webhooks.wanting(topic, serverIds);
    if (wanting.length === 0) return undefined;
    const [only = NO_SERVER, ...more] = serverIds;
    const lane = more.length > 0 ? NO_SERVER : only;
    for (const webhookId of wanting) this.held.push({ webhookId, lane, topic, body: text });
    if (this.held.length > MAX_HELD) {
      const lost = this.held.splice(0, this.held.length - MAX_HELD).length;
      this.logger.error({ events: lost }, 'webhook.events_lost');
    }
    return this.storeAll();
  }

  /** Resolves when what was held at the call is stored, or could not be. */
  private storeAll(): Promise<void> {
    const before = this.storing ?? Promise.resolve();
    const storing = before.then(() => this.store());
    this.storing = storing;
    void storing.then(() => {
      if (this.storing === storing) this.storing = undefined;
    });
    return storing;
  }

  private async store(): Promise<void> {
    if (this.held.length === 0) return;
    const taken = this.held.splice(0, ROWS_PER_STATEMENT);
    try {
      await this.deliveries.add(taken);
    } catch (error) {
      this.held.unshift(...taken);
      if (!this.isOutage)
        this.logger.warn({ err: error, events: this.held.length }, 'webhook.events_not_stored');
      this.isOutage = true;
      if (!this.isStopping) this.storeLater();
      return;
    }
    this.isOutage = false;
    this.sender.wake();
    void this.replicas.tell(DELIVERIES_WAIT);
    if (this.held.length > 0) await this.store();
  }

  private storeLater(): void {
    void this.clock.sleep(RETRY_MS).then(() => this.storeAll());
  }
}
