import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { ServerStore } from '../server.store.js';

/** Replaces the warnings about the prompts and resources of a server. */
export class SetOfferingWarnings extends Command<void> {
  constructor(
    readonly serverId: string,
    readonly warnings: readonly string[],
  ) {
    super();
  }
}

@CommandHandler(SetOfferingWarnings)
export class SetOfferingWarningsHandler implements ICommandHandler<SetOfferingWarnings> {
  constructor(private readonly servers: ServerStore) {}

  async execute({ serverId, warnings }: SetOfferingWarnings): Promise<void> {
    await this.servers.setOfferingWarnings(serverId, warnings);
  }
}
