import { EventsHandler, type IEventHandler, QueryBus } from '@nestjs/cqrs';
import { OwnAddress } from '@app/authorization';
import { ServerRegistered } from '@app/events';
import { Replicas } from '@app/platform';
import { GetServer, type Server, unlessRemoved } from '@app/registry';
import { SessionPool } from '../keep/session-pool.js';
import { SESSIONS_CHANGED } from '../reconcile/session-news.js';

@EventsHandler(ServerRegistered)
export class OpenSessionOnServerRegistered implements IEventHandler<ServerRegistered> {
  constructor(
    private readonly queries: QueryBus,
    private readonly pool: SessionPool,
    private readonly address: OwnAddress,
    private readonly replicas: Replicas,
  ) {}

  async handle({ serverId, server: written }: ServerRegistered): Promise<void> {
    // Servers registered during startup are connected by the reconcile job once the service listens; starting their
    // programs now would delay startup.
    if (!this.address.isListening) return;
    await unlessRemoved(async () =>
      this.open(written ?? (await this.queries.execute(new GetServer(serverId)))),
    );
  }

  private async open(server: Pick<Server, 'id' | 'name' | 'status'>): Promise<void> {
    if (server.status !== 'CONNECTING') return;
    if (!this.pool.leads) return this.replicas.tell(SESSIONS_CHANGED, [server.id]);
    // A failure is written to the row, and retries continue.
    const request = { background: true, probe: true, isAnnounced: true };
    await this.pool.open(server, request).catch(() => undefined);
  }
}
