import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Clock, Env } from '@app/platform';
import { AuditStore } from './audit.store.js';

const DAY_MS = 86_400_000;

/** Forgets audit entries that are older than is kept: at start, and daily after that. */
@Injectable()
export class PruneAuditJob implements OnApplicationBootstrap {
  private readonly logger = new Logger('access');

  constructor(
    private readonly env: Env,
    private readonly audit: AuditStore,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    void this.run();
  }

  @Interval(DAY_MS)
  async run(): Promise<void> {
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
