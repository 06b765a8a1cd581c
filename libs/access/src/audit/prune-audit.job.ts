import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Env, Leadership } from '@app/platform';
import { AuditStore } from './audit.store.js';

const DAY_MS = 86_400_000;
/** Callers may add a thousand entries of calls a second each. */
const CALLS_EVERY_MS = 60_000;

/**
 * Deletes audit entries that are too old, at start and daily, and those of calls that are too many, each minute at the
 * replica that leads.
 */
@Injectable()
export class PruneAuditJob implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('access');
  private running: Promise<void> = Promise.resolve();

  constructor(
    private readonly env: Env,
    private readonly audit: AuditStore,
    private readonly leadership: Leadership,
  ) {}

  onApplicationBootstrap(): void {
    this.start();
  }

  /** A running deletion ends before the database is closed. */
  beforeApplicationShutdown(): Promise<void> {
    return this.running;
  }

  @Interval(DAY_MS)
  start(): void {
    this.running = this.running.then(() => this.prune());
  }

  @Interval(CALLS_EVERY_MS)
  startWithCalls(): void {
    this.running = this.running.then(() => this.pruneCalls());
  }

  private async pruneCalls(): Promise<void> {
    const kept = this.env.MCP_AGGREGATOR_AUDIT_MAX_CALLS;
    if (kept === 0 || !this.leadership.leads) return;
    try {
      await this.audit.forgetCallsBeyond(kept);
    } catch (error) {
      this.logger.error({ err: error }, 'audit.prune_failed');
    }
  }

  private async prune(): Promise<void> {
    const days = this.env.MCP_AGGREGATOR_AUDIT_RETENTION_DAYS;
    if (days === 0) return;
    try {
      await this.audit.forgetOlderThan(days);
    } catch (error) {
      this.logger.error({ err: error }, 'audit.prune_failed');
    }
  }
}
