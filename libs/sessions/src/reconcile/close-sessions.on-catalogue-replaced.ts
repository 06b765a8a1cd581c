import { Inject } from '@nestjs/common';
import { CommandBus, EventsHandler, type IEventHandler } from '@nestjs/cqrs';
import { CatalogueReplaced } from '@app/events';
import { Env } from '@app/platform';
import { CloseWithdrawnSessions } from './close-withdrawn-sessions.command.js';

/** The embedded database has one process, which closes its sessions itself. */
@EventsHandler(CatalogueReplaced)
export class CloseSessionsOnCatalogueReplaced implements IEventHandler<CatalogueReplaced> {
  constructor(
    private readonly commands: CommandBus,
    @Inject(Env) private readonly env: Env,
  ) {}

  async handle({ withdrawn }: CatalogueReplaced): Promise<void> {
    if (!this.env.DATABASE_URL || withdrawn.length === 0) return;
    await this.commands.execute(new CloseWithdrawnSessions(withdrawn));
  }
}
