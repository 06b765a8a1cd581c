import { Logger } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { ServerStatusChanged } from '@app/events';
import { Clock, Database, type JsonObject, Leadership, Signals } from '@app/platform';
import { ServerSecrets } from '../credentials/server-secrets.js';
import { errorShown } from './list-failures.js';
import { nextStatus, type ServerStatus, type StatusSignal } from './server-status.js';
import { writtenServer } from '../server.js';
import { ServerStore } from '../server.store.js';

/** In the history before every attempt to connect that follows a failure. */
const RECONNECT = 'RECONNECT';

export interface StatusChange {
  /** Stored as `error_message` with the secrets of the server redacted. */
  readonly reason?: string;
  /** Sets whether the server should be connected; undefined leaves it unchanged. */
  readonly wanted?: boolean;
  readonly details?: JsonObject;
}

/**
 * Applies one transition of the status table (contract R13). Returns undefined and writes nothing when the
 * transition is not allowed.
 */
export class ChangeServerStatus extends Command<
  { from: ServerStatus; to: ServerStatus } | undefined
> {
  constructor(
    readonly serverId: string,
    readonly signal: StatusSignal,
    readonly change: StatusChange = {},
    /** Refused with NotLeading when this process leads no longer. */
    readonly isOfLeader = false,
  ) {
    super();
  }
}

const EVENTS = {
  DISCONNECTED: 'server.disconnected',
  CONNECTING: 'server.connecting',
  CONNECTED: 'server.connected',
  DEGRADED: 'server.degraded',
  DISCONNECTING: 'server.disconnecting',
  ERROR: 'server.failed',
} as const satisfies Record<ServerStatus, string>;

@CommandHandler(ChangeServerStatus)
export class ChangeServerStatusHandler implements ICommandHandler<ChangeServerStatus> {
  private readonly logger = new Logger(ChangeServerStatus.name);

  constructor(
    private readonly database: Database,
    private readonly servers: ServerStore,
    private readonly secrets: ServerSecrets,
    private readonly signals: Signals,
    private readonly clock: Clock,
    private readonly leadership: Leadership,
  ) {}

  async execute({
    serverId,
    signal,
    change,
    isOfLeader,
  }: ChangeServerStatus): Promise<{ from: ServerStatus; to: ServerStatus } | undefined> {
    const database = isOfLeader ? this.database.background : this.database;
    const moved = await database.transaction(async (tx) => {
      if (isOfLeader) await this.leadership.fence(tx);
      const server = await this.servers.lock(serverId, tx);
      const to = nextStatus(server.status, signal);
      const wanted = change.wanted ?? server.wanted;
      if (!to) {
        this.logger.warn(
          { server: server.name, server_id: serverId, status: server.status, signal },
          'server.transition_refused',
        );
        if (wanted !== server.wanted) await this.servers.update(serverId, { wanted }, tx);
        return undefined;
      }
      const reason = change.reason && (await this.secrets.redact(serverId, change.reason, tx));
      const changes = {
        status: to,
        wanted,
        ...(to === 'CONNECTED' && {
          errorMessage: null,
          consecutiveFailures: 0,
          ...(signal === 'connected' && { connectedAt: this.clock.now() }),
        }),
        ...((to === 'ERROR' || to === 'DEGRADED') && { errorMessage: reason ?? null }),
        ...(to === 'DISCONNECTED' && { errorMessage: null, listFailures: {} }),
      };
      await this.servers.update(serverId, changes, tx);
      if (server.status === 'ERROR' && to === 'CONNECTING') {
        await this.servers.addHistory(serverId, RECONNECT, { from: server.status }, tx);
      }
      await this.servers.addHistory(
        serverId,
        to,
        { from: server.status, ...(reason && { reason }), ...change.details },
        tx,
      );
      // Exact, because the row is locked until the commit.
      const after = { ...server, ...changes, version: server.version + 1 };
      const written = writtenServer({ ...after, errorMessage: errorShown(after) });
      return { from: server.status, to, written, reason };
    });
    if (!moved) return undefined;
    const { from, to, written, reason } = moved;
    this.logger.log(
      { server: written.name, server_id: serverId, from, to, ...(reason && { reason }) },
      EVENTS[to],
    );
    await this.signals.tell(new ServerStatusChanged(serverId, from, to, written));
    return { from, to };
  }
}
