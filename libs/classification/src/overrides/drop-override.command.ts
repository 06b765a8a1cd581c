import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { Database } from '@app/platform';
import { ClassificationWorker } from '../classify/classification-worker.js';
import { OverrideStore } from './override.store.js';

/** Drops a human's override: the tool is classified automatically again. */
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
    private readonly overrides: OverrideStore,
    private readonly worker: ClassificationWorker,
    private readonly audit: AuditStore,
  ) {}

  async execute({ toolId, actor }: DropOverride): Promise<void> {
    await this.database.transaction(async (tx) => {
      await this.overrides.drop(toolId, tx);
      const details = { tool_id: toolId };
      await this.audit.record({ event: 'tool.override_dropped', actor, details }, tx);
    });
    void this.worker.request();
  }
}
