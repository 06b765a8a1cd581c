import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Clock, Env } from '@app/platform';
import { AuditStore } from './audit.store.js';

const DAY_MS = 86_400_000;

/** Forgets audit entries that are older than is kept: at start, and daily after that. */
@Injectable()
export class PruneAuditJob implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('access');
  private running: Promise<void> = Promise.resolve();

  constructor(
    private readonly env: Env,
    private readonly audit: AuditStore,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    this.start();
  }

  /** The database closes after this. */
  beforeApplicationShutdown(): Promise<void> {
    return this.running;
  }

  @Interval(DAY_MS)
  start(): void {
    this.running = this.prune();
  }

  private async prune(): Promise<void> {
    const days = this.env.MCP_AGGREGATOR_AUDIT_RETENTION_DAYS;
    if (days === 0) return;
    try {
      const before = new Date(this.clock.now().getTime() - days * DAY_MS);
      await this.audit.forgetBefore(before);
    } catch (error) {
      this.logger.error({ err: error }, 'old audit entries could not be deleted');
    }
  }
}
