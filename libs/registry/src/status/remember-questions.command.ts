import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Database } from '@app/platform';
import { ServerStore } from '../server.store.js';

/**
 * Stores that a server asks its callers questions that name no call. Its next process serves one client at a time from
 * the start, so that its first question is answered as well; until another configuration may be another server.
 */
export class RememberQuestions extends Command<void> {
  constructor(readonly serverId: string) {
    super();
  }
}

@CommandHandler(RememberQuestions)
export class RememberQuestionsHandler implements ICommandHandler<RememberQuestions> {
  constructor(
    private readonly database: Database,
    private readonly servers: ServerStore,
  ) {}

  async execute({ serverId }: RememberQuestions): Promise<void> {
    await this.servers.update(serverId, { asksCallers: true }, this.database.background.direct);
  }
}
