import { Command, CommandBus, CommandHandler, type ICommandHandler, QueryBus } from '@nestjs/cqrs';
import { ChangeServerStatus, ListServers, type Server, unlessRemoved } from '@app/registry';
import { DRAIN_MS } from '../keep/drain-time.js';
import { SessionPool } from '../keep/session-pool.js';

/**
 * Closes the sessions of servers that are disconnected by request, as another process may have received that
 * request. Pending calls end first, unless they are to be cancelled.
 */
export class CloseWithdrawnSessions extends Command<void> {
  constructor(
    readonly serverIds: readonly string[],
    readonly isForced = false,
  ) {
    super();
  }
}

@CommandHandler(CloseWithdrawnSessions)
export class CloseWithdrawnSessionsHandler implements ICommandHandler<CloseWithdrawnSessions> {
  constructor(
    private readonly pool: SessionPool,
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
  ) {}

  async execute({ serverIds, isForced }: CloseWithdrawnSessions): Promise<void> {
    const ids = this.pool.leads ? serverIds : serverIds.filter((id) => this.pool.isKept(id));
    if (ids.length === 0) return;
    const servers = await this.queries.execute(new ListServers({ ids }));
    const withdrawn = servers.filter(({ wanted }) => !wanted);
    await Promise.all(withdrawn.map((server) => unlessRemoved(() => this.close(server, isForced))));
  }

  private async close({ id, status }: Server, isForced: boolean): Promise<void> {
    if (this.pool.isKept(id)) {
      const known = status === 'DISCONNECTING' || status === 'DISCONNECTED' ? status : undefined;
      // Before its own calls have ended, the leader finds DISCONNECTED only where another replica was asked to force it.
      const force = isForced || (this.pool.leads && known === 'DISCONNECTED');
      await this.pool.close(id, { force, drainMs: DRAIN_MS, change: {}, status: known });
    } else if (this.pool.leads && status === 'DISCONNECTING') {
      await this.commands.execute(new ChangeServerStatus(id, 'disconnect'));
    }
  }
}
