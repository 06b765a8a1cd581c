import { Injectable, type OnModuleInit } from '@nestjs/common';
import { PersonSessions, SessionPool, StdioPlace } from '@app/sessions';
import { ClientRoots } from './client-roots.js';
import { ReplicaNotices } from './replica-notices.js';
import { ResourceSubscriptions } from './resource-subscriptions.js';
import { ServerNotifications } from './server-notifications.js';

/** Relays notifications that servers send outside of calls to the clients concerned. */
@Injectable()
export class RelayNoticesOnServerNotice implements OnModuleInit {
  constructor(
    private readonly sessions: SessionPool,
    private readonly people: PersonSessions,
    private readonly place: StdioPlace,
    private readonly replicas: ReplicaNotices,
    private readonly notifications: ServerNotifications,
    private readonly roots: ClientRoots,
    private readonly subscriptions: ResourceSubscriptions,
  ) {}

  onModuleInit(): void {
    this.sessions.onServerNotice((serverId, method, params, user) => {
      this.notifications.receive(serverId, method, params, user);
      const isLog = method === 'notifications/message' && user !== undefined;
      if (isLog && this.isOnlyHere(serverId, user)) this.replicas.tellAll(serverId, params, user);
    });
    this.sessions.setAudience((serverId) => this.subscriptions.has(serverId));
    this.sessions.setRootsProvider((...asked) => this.roots.of(...asked));
  }

  /** Of other servers, each replica has a session of its own. */
  private isOnlyHere(serverId: string, user: string): boolean {
    if (!this.place.tenure()) return false;
    const [, own] = [...this.people.of(user)].find(([id]) => id === serverId) ?? [];
    const session = own ?? this.sessions.get(serverId);
    return session !== undefined && session.address === undefined;
  }
}
