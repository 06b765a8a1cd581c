import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Catalogue } from '@app/catalogue';
import { Env } from '@app/platform';
import { CallDayStore } from './call-day.store.js';
import { CallDays } from './call-days.js';

const STORE_EVERY_MS = 60_000;
const FORGET_EVERY_MS = 86_400_000;

/** Stores the calls by day each minute and when the service stops; forgets old ones at start and daily. */
@Injectable()
export class StoreCallDaysJob implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('activity');
  private running: Promise<void> = Promise.resolve();

  constructor(
    private readonly days: CallDays,
    private readonly rows: CallDayStore,
    private readonly catalogue: Catalogue,
    @Inject(Env) private readonly env: Env,
  ) {}

  onApplicationBootstrap(): void {
    this.forgetOld();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.store();
  }

  @Interval(STORE_EVERY_MS)
  store(): Promise<void> {
    return (this.running = this.running.then(() => this.storeWaiting()));
  }

  @Interval(FORGET_EVERY_MS)
  forgetOld(): void {
    this.running = this.running.then(() => this.forget());
  }

  private async storeWaiting(): Promise<void> {
    const { servers } = this.catalogue.current;
    // A call may end after its server was removed.
    const waiting = this.days.take().filter(({ serverId }) => servers.has(serverId));
    if (waiting.length === 0) return;
    try {
      await this.rows.add(waiting);
    } catch (error) {
      this.days.putBack(waiting);
      this.logger.warn({ err: error, tools: waiting.length }, 'activity.days_not_stored');
    }
  }

  private async forget(): Promise<void> {
    const { MCP_AGGREGATOR_CALL_DAYS_RETENTION: days } = this.env;
    if (days === 0) return;
    try {
      await this.rows.forgetOlderThan(days);
    } catch (error) {
      this.logger.warn({ err: error }, 'activity.days_not_forgotten');
    }
  }
}
