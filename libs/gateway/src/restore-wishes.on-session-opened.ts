import { EventsHandler, type IEventHandler } from '@nestjs/cqrs';
import { SessionOpened } from '@app/events';
import { SessionPool } from '@app/sessions';
import { Offerings } from './offerings.js';
import { ResourceSubscriptions } from './resource-subscriptions.js';
import { ServerLogs } from './server-logs.js';

/** A new session knows nothing of what clients wanted of the old one. */
@EventsHandler(SessionOpened)
export class RestoreWishesOnSessionOpened implements IEventHandler<SessionOpened> {
  constructor(
    private readonly sessions: SessionPool,
    private readonly logs: ServerLogs,
    private readonly subscriptions: ResourceSubscriptions,
    private readonly offerings: Offerings,
  ) {}

  async handle({ serverId }: SessionOpened): Promise<void> {
    const session = this.sessions.get(serverId);
    if (!session) return;
    await Promise.all([
      this.logs.restore(session),
      this.subscriptions.restore(serverId, session),
      this.offerings.refresh(serverId),
    ]);
  }
}
