import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Database, type JsonObject } from '@app/platform';
import { Catalogue } from './catalogue.js';
import { readTools } from './tool.js';
import { ToolStore } from './tool.store.js';

/** Makes these the aggregator's own tools (RULINGS R23): rows like all others, of no server. */
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
    const { tools } = readTools(definitions);
    const isNew = await this.database.transaction((tx) => this.store.replaceOwn(tools, tx));
    if (isNew) await this.catalogue.reload();
  }
}
