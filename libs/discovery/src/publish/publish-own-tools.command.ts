import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Catalogue, ToolStore } from '@app/catalogue';
import { atOnce, Database, type JsonObject } from '@app/platform';
import { readTools } from '../tool.js';

/** Replaces the own tools of the aggregator (contract R23); they are stored as rows without a server. */
export class PublishOwnTools extends Command<void> {
  constructor(readonly definitions: readonly JsonObject[]) {
    super();
  }
}

@CommandHandler(PublishOwnTools)
export class PublishOwnToolsHandler implements ICommandHandler<PublishOwnTools> {
  constructor(
    private readonly database: Database,
    private readonly store: ToolStore,
    private readonly catalogue: Catalogue,
  ) {}

  async execute({ definitions }: PublishOwnTools): Promise<void> {
    const { tools } = atOnce(readTools(definitions));
    const written = await this.database.background.transaction((tx) =>
      this.store.replaceOwn(tools, tx),
    );
    if (written.length > 0) await this.catalogue.refresh({ tools: written });
  }
}
