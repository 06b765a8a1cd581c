import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { OwnAddress } from '@app/authorization';
import { SchedulerRegistry } from '@nestjs/schedule';
import { Drain, Env, Leadership, Peers } from '@app/platform';

import { ReconcileSessions } from './reconcile-sessions.command.js';
import { SessionPool } from '../keep/session-pool.js';

const NAME = 'reconcile-sessions';
const EVERY_S = 5;
/** Leaves time for the first requests after startup, such as the readiness probe. */
const AFTER_LISTENING_MS = 100;
/** Drain time for calls in flight when the service shuts down without a drain before. */
const SHUTDOWN_DRAIN_MS = 5_000;

/** Connects every wanted server in the background once the service listens; closes every session at shutdown. */
@Injectable()
export class ReconcileSessionsJob implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(ReconcileSessionsJob.name);

  constructor(
    private readonly scheduler: SchedulerRegistry,
    private readonly commands: CommandBus,
    private readonly pool: SessionPool,
    private readonly leadership: Leadership,
    private readonly peers: Peers,
    private readonly address: OwnAddress,
    private readonly drain: Drain,
    @Inject(Env) private readonly env: Env,
  ) {}

  onApplicationBootstrap(): void {
    const everyMs = Math.min(this.env.MCP_AGGREGATOR_HEALTH_INTERVAL, EVERY_S) * 1_000;
    this.leadership.onChange(() => this.reconcile());
    this.peers.onGone(() => this.reconcile());
    this.peers.onLeader(() => this.reconcile());
    this.scheduler.addInterval(NAME, setInterval(() => this.reconcile(), everyMs).unref());
    this.address.onceListening(() =>
      setTimeout(() => this.reconcile(), AFTER_LISTENING_MS).unref(),
    );
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.scheduler.deleteInterval(NAME);
    // Sessions that close now are no news about their servers, which the next leader keeps using.
    if (!(await this.leadership.isAlone())) await this.leadership.resign();
    await this.pool.closeAll(this.drain.isDraining ? 0 : SHUTDOWN_DRAIN_MS);
    await this.leadership.resign();
  }

  private reconcile(): void {
    this.commands.execute(new ReconcileSessions()).catch((error: unknown) => {
      this.logger.error({ err: error }, 'session.not_reconciled');
    });
  }
}
