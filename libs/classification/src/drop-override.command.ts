import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { Database } from '@app/platform';
import { ClassificationStore } from './classification.store.js';
import { ClassificationWorker } from './classification-worker.js';

/** Takes a human's decision back: the tool is classified as any other. */
export class DropOverride extends Command<void> {
  constructor(
    readonly toolId: number,
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(DropOverride)
export class DropOverrideHandler implements ICommandHandler<DropOverride> {
  constructor(
    private readonly database: Database,
    private readonly classifications: ClassificationStore,
    private readonly worker: ClassificationWorker,
    private readonly audit: AuditStore,
  ) {}

  async execute({ toolId, actor }: DropOverride): Promise<void> {
    await this.database.transaction(async (tx) => {
      await this.classifications.dropOverride(toolId, tx);
      const details = { tool_id: toolId };
      await this.audit.record({ event: 'tool.override_dropped', actor, details }, tx);
    });
    void this.worker.request();
  }
}
