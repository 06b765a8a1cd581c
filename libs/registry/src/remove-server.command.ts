import { Command, CommandHandler, EventBus, type ICommandHandler } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { ServerRemoved } from '@app/events';
import { Database } from '@app/platform';
import { ServerStore } from './server.store.js';

/** Forgets a server with its tools and history; its session is closed by who listens, pending calls first. */
export class RemoveServer extends Command<void> {
  constructor(
    readonly serverId: string,
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(RemoveServer)
export class RemoveServerHandler implements ICommandHandler<RemoveServer> {
  constructor(
    private readonly database: Database,
    private readonly servers: ServerStore,
    private readonly audit: AuditStore,
    private readonly events: EventBus,
  ) {}

  async execute({ serverId, actor }: RemoveServer): Promise<void> {
    const server = await this.database.transaction(async (tx) => {
      const found = await this.servers.lock(serverId, tx);
      await this.servers.delete(serverId, tx);
      await this.audit.record({ event: 'server.removed', actor, server: found }, tx);
      return found;
    });
    this.events.publish(new ServerRemoved(serverId, server.name));
  }
}
