import { Injectable, Logger } from '@nestjs/common';
import { counter, InjectMetric } from '@app/platform';
import type { Counter } from 'prom-client';

const ENTRIES_LOST = 'mcp_aggregator_audit_entries_lost_total';
export const auditEntriesLost = counter({
  name: ENTRIES_LOST,
  help: 'Audit entries that could not be stored',
});

/** Logs and counts audit entries that could not be stored: the audit log itself cannot show them. */
@Injectable()
export class AuditLosses {
  private readonly logger = new Logger('access');

  constructor(@InjectMetric(ENTRIES_LOST) private readonly lost: Counter) {}

  say(entries: number, reason: unknown): void {
    this.lost.inc(entries);
    this.logger.error({ entries, err: reason }, 'audit.entries_lost');
  }
}
