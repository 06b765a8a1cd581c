import { Command, CommandBus, CommandHandler, type ICommandHandler, QueryBus } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { ServerWritten } from '@app/events';
import { Clock, Replicas, Signals } from '@app/platform';
import { ChangeServerStatus, GetServer, type Server, type ServerStatus } from '@app/registry';
import { SessionPool } from '../keep/session-pool.js';
import { ReconcileSessions } from '../reconcile/reconcile-sessions.command.js';
import { SESSIONS_CHANGED } from '../reconcile/session-news.js';

const ROW_CHECK_MS = 100;

export interface ConnectOutcome {
  readonly serverId: string;
  readonly status: ServerStatus;
  readonly message: string;
}

/**
 * Sets a server to wanted and connects it. Idempotent: a second request while it is connected changes nothing
 * (contract R7).
 */
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
    private readonly signals: Signals,
    private readonly clock: Clock,
    private readonly replicas: Replicas,
  ) {}

  async execute({ serverId, waitMs, actor }: ConnectServer): Promise<ConnectOutcome> {
    const server = await this.queries.execute(new GetServer(serverId));
    this.pool.refuseIfDisabled(server);
    if (this.pool.leads && this.pool.get(serverId)) {
      await this.within(waitMs, this.pool.isReady(serverId));
      return this.outcome(serverId, true);
    }
    await this.audit.record({ event: 'server.connect', actor, server });
    // A server that is CONNECTING already stays so: the attempt under way is joined.
    const isConnecting = server.status === 'CONNECTING' && server.wanted;
    const moved = isConnecting
      ? undefined
      : await this.commands.execute(new ChangeServerStatus(serverId, 'connect', { wanted: true }));
    await this.replicas.tell(SESSIONS_CHANGED, [serverId]);
    const connected = this.pool.leads
      ? this.open(server, moved !== undefined)
      : this.untilDecided(serverId, waitMs);
    await this.within(waitMs, connected);
    return this.outcome(serverId, false);
  }

  private async within(waitMs: number, work: Promise<void>): Promise<void> {
    if (waitMs <= 0) return;
    const waited = new AbortController();
    const tooLong = this.clock.sleep(waitMs, waited.signal).catch(() => undefined);
    await Promise.race([work, tooLong]);
    waited.abort();
  }

  /**
   * Never rejects: a failed attempt is written to the row with its reason, and retries continue in the background.
   */
  private async open(server: Server, isAnnounced: boolean): Promise<void> {
    const request = { background: false, probe: true, isAnnounced };
    await this.pool.open(server, request).catch(() => undefined);
    await this.pool.isReady(server.id);
  }

  /**
   * For a process that does not lead: polls the row until the leading process has connected the server and read its
   * tools, or failed.
   */
  private async untilDecided(serverId: string, withinMs: number): Promise<void> {
    // The session of this process may still be closing after a disconnect.
    await this.commands.execute(new ReconcileSessions([serverId]));
    const until = this.clock.monotonic() + withinMs;
    while (this.clock.monotonic() < until) {
      await this.clock.sleep(ROW_CHECK_MS);
      if (isDecided(await this.queries.execute(new GetServer(serverId)))) break;
    }
    // Shown by the local catalogue now; the message of the leading process may arrive a moment later.
    return this.signals.tell(new ServerWritten(serverId));
  }

  private async outcome(serverId: string, already: boolean): Promise<ConnectOutcome> {
    const { status, errorMessage } = await this.queries.execute(new GetServer(serverId));
    return { serverId, status, message: messageFor(status, errorMessage, already) };
  }
}

function isDecided({ status, connectedAt, toolsReadAt }: Server): boolean {
  if (status === 'CONNECTING') return false;
  if (status !== 'CONNECTED' || connectedAt === null) return true;
  return toolsReadAt !== null && toolsReadAt >= connectedAt;
}

function messageFor(status: ServerStatus, reason: string | null, already: boolean): string {
  switch (status) {
    case 'CONNECTED':
    case 'DEGRADED': {
      const connected = already ? 'Server already connected' : 'Server connected';
      return reason === null ? connected : `${connected}. ${reason}`;
    }
    case 'ERROR':
      return reason ?? 'Connecting failed';
    case 'CONNECTING':
    case 'DISCONNECTED':
    case 'DISCONNECTING':
      return 'Connection initiated';
    default:
      return status satisfies never;
  }
}
