import { Logger } from '@nestjs/common';
import { Command, CommandBus, CommandHandler, type ICommandHandler, QueryBus } from '@nestjs/cqrs';
import { HEALTH_CHECK_FAILED, HealthFailed, HealthRecovered } from '@app/events';
import { Clock, Signals } from '@app/platform';
import { isServing, ListServers, RecordHealth, type Server } from '@app/registry';
import { SessionPool } from '@app/sessions';
import { CheckMetrics } from './check.metrics.js';
import { ServerProbe } from './server-probe.js';
import { ProbeHistory } from '../history/probe-history.js';
import { judge, type ProbeOutcome, type HealthVerdict } from './health-verdict.js';

/** Checks every connected server once, in parallel (contract R20). */
export class CheckServers extends Command<void> {}

@CommandHandler(CheckServers)
export class CheckServersHandler implements ICommandHandler<CheckServers> {
  private readonly logger = new Logger(CheckServers.name);
  /** Ids of servers under check: a check longer than the interval must not overlap the next one. */
  private readonly running = new Set<string>();

  constructor(
    private readonly pool: SessionPool,
    private readonly serverProbe: ServerProbe,
    private readonly metrics: CheckMetrics,
    private readonly probes: ProbeHistory,
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly signals: Signals,
    private readonly clock: Clock,
  ) {}

  async execute(): Promise<void> {
    if (!this.pool.leads) return; // another process checks
    const servers = await this.queries.execute(new ListServers());
    const due = servers.filter(
      (server) => isServing(server.status) && !this.running.has(server.id),
    );
    await Promise.all(due.map((server) => this.checkOnce(server)));
  }

  private async checkOnce(server: Server): Promise<void> {
    this.running.add(server.id);
    try {
      await this.check(server);
    } catch (error) {
      this.logger.error({ ...keysOf(server), err: error }, 'health.record_failed');
    } finally {
      this.running.delete(server.id);
    }
  }

  private async check(server: Server): Promise<void> {
    const session = this.pool.get(server.id);
    if (!session) return;
    const outcome = await this.serverProbe.probe(server, session);
    // The session was replaced during the check, so the outcome does not apply to the new one.
    if (this.pool.get(server.id) !== session) return;
    const verdict = judge(server, outcome);
    this.metrics.observe(server, outcome);
    this.remember(server, outcome);
    await this.record(server, outcome, verdict);
    if (outcome.kind === 'failed') {
      const { consecutiveFailures } = verdict;
      await this.signals.tell(new HealthFailed(server.id, consecutiveFailures, outcome.error));
    } else if (outcome.kind === 'healthy' && hasFailed(server)) {
      await this.signals.tell(new HealthRecovered(server.id));
    }
  }

  /** A misconfigured check says nothing of the server. */
  private remember({ id }: Server, outcome: ProbeOutcome): void {
    if (outcome.kind === 'misconfigured') return;
    const ms = outcome.kind === 'healthy' ? outcome.responseTimeMs : null;
    this.probes.note(id, { at: this.clock.now().getTime(), ms });
  }

  private async record(
    server: Server,
    outcome: ProbeOutcome,
    verdict: HealthVerdict,
  ): Promise<void> {
    const { consecutiveFailures } = verdict;
    if (outcome.kind === 'misconfigured') {
      const line = { ...keysOf(server), reason: outcome.warning };
      this.logger.warn(line, 'health.check_misconfigured');
    } else if (outcome.kind === 'failed') {
      const line = {
        ...keysOf(server),
        reason: outcome.error,
        code: HEALTH_CHECK_FAILED,
        consecutiveFailures,
      };
      this.logger.warn(line, 'health.check_failed');
    }
    await this.commands.execute(
      new RecordHealth(server.id, {
        at: this.clock.now(),
        responseTimeMs: outcome.kind === 'healthy' ? outcome.responseTimeMs : null,
        consecutiveFailures,
        lastError: lastErrorOf(outcome) ?? server.lastError,
      }),
    );
  }
}

function keysOf({ id, name }: Server): { server: string; server_id: string } {
  return { server: name, server_id: id };
}

function hasFailed({ status, consecutiveFailures }: Server): boolean {
  return consecutiveFailures > 0 || status === 'DEGRADED';
}

function lastErrorOf(outcome: ProbeOutcome): string | undefined {
  switch (outcome.kind) {
    case 'healthy':
      return undefined;
    case 'failed':
      return `${HEALTH_CHECK_FAILED}: ${outcome.error}`;
    case 'misconfigured':
      return outcome.warning;
    default:
      return outcome satisfies never;
  }
}
