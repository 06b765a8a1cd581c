import { Logger } from '@nestjs/common';
import { Command, CommandHandler, EventBus, type ICommandHandler } from '@nestjs/cqrs';
import { ServerStatusChanged } from '@app/events';
import { Clock, Database, type JsonObject } from '@app/platform';
import { ServerSecrets } from './server-secrets.js';
import { nextStatus, type ServerStatus, type StatusSignal } from './server-status.js';
import { ServerStore } from './server.store.js';

export interface StatusChange {
  /** Shown as `error_message`; secrets of the server are taken out here. */
  readonly reason?: string;
  /** Whether the server should be connected from now on; absent leaves it as it is. */
  readonly wanted?: boolean;
  readonly details?: JsonObject;
}

/** Moves a server along the table of the contract. Undefined when there is no such way: nothing is written then. */
export class ChangeServerStatus extends Command<
  { from: ServerStatus; to: ServerStatus } | undefined
> {
  constructor(
    readonly serverId: string,
    readonly signal: StatusSignal,
    readonly change: StatusChange = {},
  ) {
    super();
  }
}

@CommandHandler(ChangeServerStatus)
export class ChangeServerStatusHandler implements ICommandHandler<ChangeServerStatus> {
  private readonly logger = new Logger(ChangeServerStatus.name);

  constructor(
    private readonly database: Database,
    private readonly servers: ServerStore,
    private readonly secrets: ServerSecrets,
    private readonly events: EventBus,
    private readonly clock: Clock,
  ) {}

  async execute({
    serverId,
    signal,
    change,
  }: ChangeServerStatus): Promise<{ from: ServerStatus; to: ServerStatus } | undefined> {
    const moved = await this.database.transaction(async (tx) => {
      const server = await this.servers.lock(serverId, tx);
      const to = nextStatus(server.status, signal);
      const wanted = change.wanted ?? server.wanted;
      if (!to) {
        this.logger.debug(
          { server: server.name, status: server.status, signal },
          'transition refused',
        );
        if (wanted !== server.wanted) await this.servers.update(serverId, { wanted }, tx);
        return undefined;
      }
      const reason = change.reason && (await this.secrets.redact(serverId, change.reason, tx));
      await this.servers.update(
        serverId,
        {
          status: to,
          wanted,
          ...(to === 'CONNECTED' && {
            errorMessage: null,
            consecutiveFailures: 0,
            ...(signal === 'connected' && { connectedAt: this.clock.now() }),
          }),
          ...((to === 'ERROR' || to === 'DEGRADED') && { errorMessage: reason ?? null }),
          ...(to === 'DISCONNECTED' && { errorMessage: null }),
        },
        tx,
      );
      await this.servers.addHistory(
        serverId,
        to,
        { from: server.status, ...(reason && { reason }), ...change.details },
        tx,
      );
      return { from: server.status, to, name: server.name, reason };
    });
    if (!moved) return undefined;
    const { from, to, name, reason } = moved;
    this.logger.log({ server: name, from, to, ...(reason && { reason }) }, 'status changed');
    this.events.publish(new ServerStatusChanged(serverId, from, to));
    return { from, to };
  }
}
