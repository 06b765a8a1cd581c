import { EventsHandler, type IEventHandler } from '@nestjs/cqrs';
import { SkillsChanged } from '@app/events';
import { ClassificationWorker } from './classification-worker.js';

/** A change of the taxonomy makes tools due again. */
@EventsHandler(SkillsChanged)
export class ClassifyToolsOnSkillsChanged implements IEventHandler<SkillsChanged> {
  constructor(private readonly worker: ClassificationWorker) {}

  async handle(): Promise<void> {
    await this.worker.request();
  }
}
