import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { ServerListsChanged } from '@app/events';
import { Signals } from '@app/platform';
import { ServerSecrets } from '../credentials/server-secrets.js';
import { ServerStore } from '../server.store.js';
import type { ListedKind } from './list-failures.js';

/** Stores why a list of a server could not be read; null once it could (contract R42). */
export class SetListFailure extends Command<void> {
  constructor(
    readonly serverId: string,
    readonly kind: ListedKind,
    readonly reason: string | null,
  ) {
    super();
  }
}

@CommandHandler(SetListFailure)
export class SetListFailureHandler implements ICommandHandler<SetListFailure> {
  constructor(
    private readonly servers: ServerStore,
    private readonly secrets: ServerSecrets,
    private readonly signals: Signals,
  ) {}

  async execute({ serverId, kind, reason }: SetListFailure): Promise<void> {
    const stored = reason === null ? null : await this.secrets.redact(serverId, reason);
    const isNew = await this.servers.setListFailure(serverId, kind, stored);
    if (isNew) await this.signals.tell(new ServerListsChanged(serverId));
  }
}
