import { Command, CommandBus, CommandHandler, type ICommandHandler, QueryBus } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { Clock } from '@app/platform';
import { ChangeServerStatus, GetServer, type Server, type ServerStatus } from '@app/registry';
import { SessionPool } from './session-pool.js';

const ROW_CHECK_MS = 100;

export interface ConnectOutcome {
  readonly serverId: string;
  readonly status: ServerStatus;
  readonly message: string;
}

/** Somebody wants a server connected from now on; asking again while it is changes nothing (RULINGS R7). */
export class ConnectServer extends Command<ConnectOutcome> {
  constructor(
    readonly serverId: string,
    /** How long to wait for the outcome; 0 answers at once. */
    readonly waitMs: number,
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(ConnectServer)
export class ConnectServerHandler implements ICommandHandler<ConnectServer> {
  constructor(
    private readonly pool: SessionPool,
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly audit: AuditStore,
    private readonly clock: Clock,
  ) {}

  async execute({ serverId, waitMs, actor }: ConnectServer): Promise<ConnectOutcome> {
    const server = await this.queries.execute(new GetServer(serverId));
    if (this.pool.leads && this.pool.get(serverId)) return this.outcome(serverId, true);
    await this.audit.record({ event: 'server.connect', actor, server });
    await this.commands.execute(new ChangeServerStatus(serverId, 'connect', { wanted: true }));
    const connected = this.pool.leads ? this.open(server) : this.isDecided(serverId, waitMs);
    if (waitMs > 0) {
      const waited = new AbortController();
      const tooLong = this.clock.sleep(waitMs, waited.signal).catch(() => undefined);
      await Promise.race([connected, tooLong]);
      waited.abort();
    }
    return this.outcome(serverId, false);
  }

  /** The outcome is in the row, with its reason; trying goes on. */
  private async open(server: Server): Promise<void> {
    await this.pool.open(server, { background: false, probe: true }).catch(() => undefined);
  }

  /** Another process leads, and finds in the row what is wanted. */
  private async isDecided(serverId: string, withinMs: number): Promise<void> {
    const until = this.clock.now().getTime() + withinMs;
    while (this.clock.now().getTime() < until) {
      await this.clock.sleep(ROW_CHECK_MS);
      const { status } = await this.queries.execute(new GetServer(serverId));
      if (status !== 'CONNECTING') return;
    }
  }

  private async outcome(serverId: string, already: boolean): Promise<ConnectOutcome> {
    const { status, errorMessage } = await this.queries.execute(new GetServer(serverId));
    return { serverId, status, message: messageFor(status, errorMessage, already) };
  }
}

function messageFor(status: ServerStatus, reason: string | null, already: boolean): string {
  switch (status) {
    case 'CONNECTED':
    case 'DEGRADED':
      return already ? 'Server already connected' : 'Server connected';
    case 'ERROR':
      return reason ?? 'Connecting failed';
    case 'CONNECTING':
    case 'DISCONNECTED':
      return 'Connection initiated';
    default:
      return status satisfies never;
  }
}
