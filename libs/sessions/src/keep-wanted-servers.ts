import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { Env } from '@app/platform';
import { ChangeServerStatus, ListServers, type Server } from '@app/registry';
import { SessionPool } from './session-pool.js';

/** Calls that are being answered when the service is told to stop. */
const SHUTDOWN_DRAIN_MS = 5_000;

/** At the start every wanted server is connected, in the background; at the end every session is closed. */
@Injectable()
export class KeepWantedServers implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(KeepWantedServers.name);

  constructor(
    private readonly pool: SessionPool,
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    @Inject(Env) private readonly env: Env,
  ) {}

  onApplicationBootstrap(): void {
    this.connectAll().catch((error: unknown) => {
      this.logger.error({ err: error }, 'the wanted servers could not be read');
    });
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.pool.closeAll(SHUTDOWN_DRAIN_MS);
  }

  private async connectAll(): Promise<void> {
    const servers = await this.queries.execute(new ListServers());
    await Promise.all(servers.map((server) => this.begin(server)));
  }

  private async begin(server: Server): Promise<void> {
    const { id, status, wanted } = server;
    // What the row says is from a former life: this process has no session yet.
    if (status === 'CONNECTED' || status === 'DEGRADED' || (status === 'CONNECTING' && !wanted)) {
      const reason = 'the service was restarted';
      await this.commands.execute(
        new ChangeServerStatus(id, 'disconnect', { details: { reason } }),
      );
    }
    if (!wanted || !this.env.MCP_AGGREGATOR_ENABLED || this.pool.isKept(id)) return;
    await this.pool.open(server, { background: true, probe: true }).catch(() => undefined);
  }
}
