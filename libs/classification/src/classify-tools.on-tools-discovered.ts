import { EventsHandler, type IEventHandler } from '@nestjs/cqrs';
import { SkillsChanged, ToolsDiscovered } from '@app/events';
import { ClassificationWorker } from './classification-worker.js';

/** New and changed tools, and another taxonomy, mean that the queue is no longer empty. */
@EventsHandler(ToolsDiscovered, SkillsChanged)
export class ClassifyToolsOnToolsDiscovered implements IEventHandler {
  constructor(private readonly worker: ClassificationWorker) {}

  async handle(event: ToolsDiscovered | SkillsChanged): Promise<void> {
    if (event instanceof SkillsChanged) return this.worker.request();
    const written = [...event.added, ...event.changed];
    if (written.length > 0) await this.worker.request(written);
  }
}
