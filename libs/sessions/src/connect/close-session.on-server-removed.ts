import { EventsHandler, type IEventHandler } from '@nestjs/cqrs';
import { ServerRemoved } from '@app/events';
import { Replicas } from '@app/platform';
import { DRAIN_MS } from '../keep/drain-time.js';
import { ServerFolders } from './server-folders.js';
import { SessionPool } from '../keep/session-pool.js';
import { PersonSessions } from '../persons/person-sessions.js';
import { SESSIONS_CHANGED } from '../reconcile/session-news.js';

@EventsHandler(ServerRemoved)
export class CloseSessionOnServerRemoved implements IEventHandler<ServerRemoved> {
  constructor(
    private readonly pool: SessionPool,
    private readonly people: PersonSessions,
    private readonly folders: ServerFolders,
    private readonly replicas: Replicas,
  ) {}

  async handle({ serverId }: ServerRemoved): Promise<void> {
    await this.replicas.tell(SESSIONS_CHANGED, [serverId]);
    await this.people.close(serverId);
    await this.pool.close(serverId, { force: false, drainMs: DRAIN_MS });
    await this.pool.gone(serverId);
    await this.folders.remove(serverId);
  }
}
