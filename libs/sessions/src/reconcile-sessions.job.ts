import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { SchedulerRegistry } from '@nestjs/schedule';
import { Env } from '@app/platform';
import { Leadership } from './leadership.js';
import { OwnAddress } from './own-address.js';
import { ReconcileSessions } from './reconcile-sessions.command.js';
import { SessionPool } from './session-pool.js';

const NAME = 'reconcile-sessions';
const EVERY_S = 5;
/** Long enough for what is asked at once, such as whether the service is ready. */
const AFTER_LISTENING_MS = 100;
/** Calls that are being answered when the service is told to stop. */
const SHUTDOWN_DRAIN_MS = 5_000;

/** Once the service listens this connects every wanted server, in the background; at the end every session is closed. */
@Injectable()
export class ReconcileSessionsJob implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(ReconcileSessionsJob.name);

  constructor(
    private readonly scheduler: SchedulerRegistry,
    private readonly commands: CommandBus,
    private readonly pool: SessionPool,
    private readonly leadership: Leadership,
    private readonly address: OwnAddress,
    @Inject(Env) private readonly env: Env,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.leadership.refresh();
    const everyMs = Math.min(this.env.MCP_AGGREGATOR_HEALTH_INTERVAL, EVERY_S) * 1_000;
    this.scheduler.addInterval(NAME, setInterval(() => this.reconcile(), everyMs).unref());
    this.address.onceListening(() =>
      setTimeout(() => this.reconcile(), AFTER_LISTENING_MS).unref(),
    );
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.scheduler.deleteInterval(NAME);
    await this.pool.closeAll(SHUTDOWN_DRAIN_MS);
    await this.leadership.resign();
  }

  private reconcile(): void {
    this.commands.execute(new ReconcileSessions()).catch((error: unknown) => {
      this.logger.error({ err: error }, 'sessions could not be compared with the rows');
    });
  }
}
