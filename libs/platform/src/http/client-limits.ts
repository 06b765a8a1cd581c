import { Injectable, Logger } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { counter, InjectMetric } from '../metrics/metric-providers.js';

/** Which limit a client reached. */
export type ClientLimit =
  | 'connection_bytes'
  | 'unsent_bytes'
  | 'write_stalled'
  | 'pipelined_requests'
  | 'connections'
  | 'batch_messages'
  | 'sessions'
  | 'standing_streams'
  | 'subscriptions'
  | 'listen_streams'
  | 'event_streams'
  | 'suspended_calls'
  | 'queued_notifications';

/** At most one log line per limit and principal in this time: a client at a limit reaches it many times per second. */
const LOG_EVERY_MS = 10_000;
const MAX_REMEMBERED = 1_000;

const LIMITS_REACHED = 'mcp_aggregator_client_limits_total';
export const clientLimitsReached = counter({
  name: LIMITS_REACHED,
  help: 'What was refused, ended or cut because a client reached a limit',
  labelNames: ['limit'],
});

/** Reports limits that clients reach: every time in the metrics, at intervals in the log. */
@Injectable()
export class ClientLimits {
  private readonly logger = new Logger('clients');
  private readonly logged = new Map<string, { at: number; since: number }>();

  constructor(@InjectMetric(LIMITS_REACHED) private readonly reached: Counter<'limit'>) {}

  note(
    limit: ClientLimit,
    principal: string,
    details: Readonly<Record<string, number>> = {},
  ): void {
    this.reached.inc({ limit });
    const key = `${limit} ${principal}`;
    const last = this.logged.get(key);
    const at = performance.now();
    if (last && at - last.at < LOG_EVERY_MS) {
      last.since += 1;
      return;
    }
    if (this.logged.size >= MAX_REMEMBERED) this.logged.clear();
    this.logged.set(key, { at, since: 0 });
    const line = { limit, principal, ...details, not_logged: last?.since ?? 0 };
    this.logger.warn(line, 'client.limit_reached');
  }
}
