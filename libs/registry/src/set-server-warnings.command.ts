import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Database } from '@app/platform';
import { ServerStore } from './server.store.js';

/** Replaces what the owner of a server should know about it, such as tools over a limit. */
export class SetServerWarnings extends Command<void> {
  constructor(
    readonly serverId: string,
    readonly warnings: readonly string[],
  ) {
    super();
  }
}

@CommandHandler(SetServerWarnings)
export class SetServerWarningsHandler implements ICommandHandler<SetServerWarnings> {
  constructor(
    private readonly database: Database,
    private readonly servers: ServerStore,
  ) {}

  async execute({ serverId, warnings }: SetServerWarnings): Promise<void> {
    await this.servers.update(serverId, { warnings: [...warnings] }, this.database.direct);
  }
}
