import { Command, CommandBus, CommandHandler, type ICommandHandler, QueryBus } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { Clock } from '@app/platform';
import { ChangeServerStatus, GetServer } from '@app/registry';
import { SessionPool } from './session-pool.js';

/** How long pending calls may take to end before they are cancelled (BR-007). */
export const DRAIN_MS = 30_000;

export interface DisconnectOutcome {
  readonly serverId: string;
  readonly status: 'DISCONNECTED' | 'DISCONNECTING';
  readonly pendingRequests: number;
  readonly message: string;
}

/** Nobody wants a server connected any more. New calls are refused from now on; pending ones may end unless forced. */
export class DisconnectServer extends Command<DisconnectOutcome> {
  constructor(
    readonly serverId: string,
    readonly force: boolean,
    /** How long to wait for pending calls before answering; 0 answers at once. */
    readonly waitMs: number,
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(DisconnectServer)
export class DisconnectServerHandler implements ICommandHandler<DisconnectServer> {
  constructor(
    private readonly pool: SessionPool,
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly audit: AuditStore,
    private readonly clock: Clock,
  ) {}

  async execute({ serverId, force, waitMs, actor }: DisconnectServer): Promise<DisconnectOutcome> {
    const server = await this.queries.execute(new GetServer(serverId));
    await this.audit.record({ event: 'server.disconnect', actor, server, details: { force } });
    if (!this.pool.isKept(serverId)) {
      await this.commands.execute(
        new ChangeServerStatus(serverId, 'disconnect', { wanted: false }),
      );
      return this.outcome(serverId, true);
    }
    const waits = !force && this.pool.pending(serverId) > 0;
    const closed = this.close(serverId, force);
    if (!waits) {
      await closed;
      return this.outcome(serverId, true);
    }
    const waited = new AbortController();
    const tooLong = this.clock.sleep(waitMs, waited.signal).then(
      () => false as const,
      () => false as const,
    );
    const done = await Promise.race([closed, tooLong]);
    waited.abort();
    return this.outcome(serverId, done);
  }

  private async close(serverId: string, force: boolean): Promise<true> {
    const change = { wanted: false };
    await this.pool.close(serverId, { force, drainMs: DRAIN_MS, change });
    // The process that leads finds it in the row.
    if (!this.pool.leads) {
      await this.commands.execute(new ChangeServerStatus(serverId, 'disconnect', change));
    }
    return true;
  }

  private outcome(serverId: string, done: boolean): DisconnectOutcome {
    const pendingRequests = done ? 0 : this.pool.pending(serverId);
    return {
      serverId,
      status: done ? 'DISCONNECTED' : 'DISCONNECTING',
      pendingRequests,
      message: done
        ? 'Server disconnected successfully'
        : `Waiting for ${pendingRequests} pending requests to complete`,
    };
  }
}
