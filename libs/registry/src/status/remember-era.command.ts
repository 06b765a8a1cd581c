import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Database } from '@app/platform';
import type { ProtocolEra } from '@app/mcp-protocol';
import { ServerStore } from '../server.store.js';

/** Stores the protocol era that a handshake detected; null makes the next handshake probe again. */
export class RememberEra extends Command<void> {
  constructor(
    readonly serverId: string,
    readonly era: ProtocolEra | null,
  ) {
    super();
  }
}

@CommandHandler(RememberEra)
export class RememberEraHandler implements ICommandHandler<RememberEra> {
  constructor(
    private readonly database: Database,
    private readonly servers: ServerStore,
  ) {}

  async execute({ serverId, era }: RememberEra): Promise<void> {
    await this.servers.update(serverId, { protocolEra: era }, this.database.background.direct);
  }
}
