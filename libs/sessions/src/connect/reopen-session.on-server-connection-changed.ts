import { CommandBus, EventsHandler, type IEventHandler, QueryBus } from '@nestjs/cqrs';
import { Inject } from '@nestjs/common';
import { ServerConnectionChanged } from '@app/events';
import { Env, Replicas } from '@app/platform';
import { ChangeServerStatus, GetServer, type Server, unlessRemoved } from '@app/registry';
import { DRAIN_MS } from '../keep/drain-time.js';
import { SessionPool } from '../keep/session-pool.js';
import { PersonSessions } from '../persons/person-sessions.js';
import { SESSIONS_CHANGED } from '../reconcile/session-news.js';

/** Replaces an open session, which still uses the old configuration; its pending calls drain first. */
@EventsHandler(ServerConnectionChanged)
export class ReopenSessionOnServerConnectionChanged implements IEventHandler<ServerConnectionChanged> {
  constructor(
    private readonly queries: QueryBus,
    private readonly commands: CommandBus,
    private readonly pool: SessionPool,
    private readonly people: PersonSessions,
    private readonly replicas: Replicas,
    @Inject(Env) private readonly env: Env,
  ) {}

  async handle({ serverId }: ServerConnectionChanged): Promise<void> {
    // Their calls open new ones; those that run end with the former configuration.
    void this.people.close(serverId);
    await unlessRemoved(() => (this.pool.leads ? this.reopen(serverId) : this.request(serverId)));
  }

  private async request(serverId: string): Promise<void> {
    if (this.isToBeOpen(await this.queries.execute(new GetServer(serverId)))) {
      // Requests a reconnect through the row, also of a server that waits for its next attempt.
      await this.commands.execute(new ChangeServerStatus(serverId, 'disconnect'));
      await this.commands.execute(new ChangeServerStatus(serverId, 'connect'));
    }
    await this.replicas.tell(SESSIONS_CHANGED, [serverId]);
    await this.pool.replace(serverId, DRAIN_MS);
  }

  private async reopen(serverId: string): Promise<void> {
    await this.replicas.tell(SESSIONS_CHANGED, [serverId]);
    await this.pool.replace(serverId, DRAIN_MS);
    const server = await this.queries.execute(new GetServer(serverId));
    if (!this.isToBeOpen(server)) return;
    await this.pool.open(server, { background: true, probe: true }).catch(() => undefined);
  }

  private isToBeOpen({ wanted }: Server): boolean {
    return wanted && this.env.MCP_AGGREGATOR_ENABLED;
  }
}
