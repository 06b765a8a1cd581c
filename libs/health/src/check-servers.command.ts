import { Logger } from '@nestjs/common';
import { Command, CommandBus, CommandHandler, type ICommandHandler, QueryBus } from '@nestjs/cqrs';
import { Clock } from '@app/platform';
import {
  ChangeServerStatus,
  isServing,
  ListServers,
  RecordHealth,
  type Server,
} from '@app/registry';
import { SessionPool } from '@app/sessions';
import { CheckMetrics } from './check.metrics.js';
import { ServerProbe } from './server-probe.js';
import { judge, type ProbeOutcome, type Verdict } from './verdict.js';

/** Checks every connected server once, all at the same time. */
export class CheckServers extends Command<void> {}

@CommandHandler(CheckServers)
export class CheckServersHandler implements ICommandHandler<CheckServers> {
  private readonly logger = new Logger(CheckServers.name);
  /** A check that takes longer than the interval is not started a second time. */
  private readonly running = new Set<string>();

  constructor(
    private readonly pool: SessionPool,
    private readonly serverProbe: ServerProbe,
    private readonly metrics: CheckMetrics,
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
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
      this.logger.error({ server: server.name, err: error }, 'health check could not be recorded');
    } finally {
      this.running.delete(server.id);
    }
  }

  private async check(server: Server): Promise<void> {
    const session = this.pool.get(server.id);
    if (!session) return;
    const outcome = await this.serverProbe.probe(server, session);
    // A session that was replaced meanwhile is nobody's business any more.
    if (this.pool.get(server.id) !== session) return;
    const verdict = judge(server, outcome);
    this.metrics.observe(server.name, outcome);
    await this.record(server, outcome, verdict);
    if (!verdict.signal) return;
    const reason = outcome.kind === 'failed' ? { reason: outcome.error } : {};
    await this.commands.execute(new ChangeServerStatus(server.id, verdict.signal, reason));
    if (verdict.signal === 'failed' && outcome.kind === 'failed') {
      await this.pool.reset(server.id, outcome.error);
    }
  }

  private async record(server: Server, outcome: ProbeOutcome, verdict: Verdict): Promise<void> {
    const { name } = server;
    const { consecutiveFailures } = verdict;
    if (outcome.kind === 'misconfigured') {
      this.logger.warn({ server: name, reason: outcome.warning }, 'health check is misconfigured');
    } else if (outcome.kind === 'failed') {
      this.logger.warn({ server: name, reason: outcome.error, consecutiveFailures }, 'unhealthy');
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

function lastErrorOf(outcome: ProbeOutcome): string | undefined {
  switch (outcome.kind) {
    case 'healthy':
      return undefined;
    case 'failed':
      return outcome.error;
    case 'misconfigured':
      return outcome.warning;
    default:
      return outcome satisfies never;
  }
}
