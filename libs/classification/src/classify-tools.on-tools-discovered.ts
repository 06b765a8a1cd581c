import { EventsHandler, type IEventHandler } from '@nestjs/cqrs';
import { SkillsChanged, ToolsDiscovered } from '@app/events';
import { ClassificationWorker } from './classification-worker.js';

/** New and changed tools, and another taxonomy, mean that the queue is no longer empty. */
@EventsHandler(ToolsDiscovered, SkillsChanged)
export class ClassifyToolsOnToolsDiscovered implements IEventHandler {
  constructor(private readonly worker: ClassificationWorker) {}

  async handle(event: ToolsDiscovered | SkillsChanged): Promise<void> {
    if (event instanceof ToolsDiscovered && event.added.length + event.changed.length === 0) return;
    await this.worker.request();
  }
}
