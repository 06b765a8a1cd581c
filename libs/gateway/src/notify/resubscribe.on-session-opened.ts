import { EventsHandler, type IEventHandler } from '@nestjs/cqrs';
import { SessionOpened } from '@app/events';
import { SessionPool } from '@app/sessions';
import { ServerInstructions } from '../lists/server-instructions.js';
import { Offerings } from '../lists/offerings.js';
import { ResourceSubscriptions } from './resource-subscriptions.js';
import { ServerLogs } from './server-logs.js';

/** Sends log levels and subscriptions of clients again, because a new session starts without them. */
@EventsHandler(SessionOpened)
export class ResubscribeOnSessionOpened implements IEventHandler<SessionOpened> {
  constructor(
    private readonly sessions: SessionPool,
    private readonly logs: ServerLogs,
    private readonly subscriptions: ResourceSubscriptions,
    private readonly offerings: Offerings,
    private readonly instructions: ServerInstructions,
  ) {}

  async handle({ serverId }: SessionOpened): Promise<void> {
    const session = this.sessions.get(serverId);
    if (!session) return;
    await Promise.all([
      this.logs.restore(serverId, session),
      this.subscriptions.restore(serverId, session),
      this.offerings.refresh(serverId),
      this.instructions.note(serverId, session),
    ]);
  }
}
