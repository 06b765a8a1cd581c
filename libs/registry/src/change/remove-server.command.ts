import { Command, CommandBus, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { ServerRemoved } from '@app/events';
import { Database, Signals } from '@app/platform';
import { ServerStore } from '../server.store.js';
import { RemoveTools } from './remove-tools.command.js';

/**
 * Deletes a server with its tools and history. The sessions lib closes its session on `ServerRemoved`, after
 * pending calls have drained.
 */
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
    private readonly commands: CommandBus,
    private readonly database: Database,
    private readonly servers: ServerStore,
    private readonly audit: AuditStore,
    private readonly signals: Signals,
  ) {}

  async execute({ serverId, actor }: RemoveServer): Promise<void> {
    const server = await this.database.bulk.transaction(async (tx) => {
      const found = await this.servers.lock(serverId, tx);
      await this.commands.execute(new RemoveTools(serverId, tx));
      await this.servers.delete(serverId, tx);
      await this.audit.record({ event: 'server.removed', actor, server: found }, tx);
      return found;
    });
    await this.signals.tell(new ServerRemoved(serverId, server.name));
  }
}
