import { Injectable, type OnModuleInit } from '@nestjs/common';
import { SessionPool } from '@app/sessions';
import { ClientRoots } from './client-roots.js';
import { ResourceSubscriptions } from './resource-subscriptions.js';
import { ServerNotifications } from './server-notifications.js';

/** Relays notifications that servers send outside of calls to the clients concerned. */
@Injectable()
export class RelayNoticesOnServerNotice implements OnModuleInit {
  constructor(
    private readonly sessions: SessionPool,
    private readonly notifications: ServerNotifications,
    private readonly roots: ClientRoots,
    private readonly subscriptions: ResourceSubscriptions,
  ) {}

  onModuleInit(): void {
    this.sessions.onServerNotice((serverId, ...notice) =>
      this.notifications.receive(serverId, ...notice),
    );
    this.sessions.setAudience((serverId) => this.subscriptions.has(serverId));
    this.sessions.setRootsProvider((...asked) => this.roots.of(...asked));
  }
}
