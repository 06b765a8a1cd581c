import { Injectable, Logger } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Upkeep } from '@app/platform';
import { ClassificationWorker } from './classification-worker.js';

const LOOK_AGAIN_MS = 15_000;

/** Finds tools that a lost event or a crash left unclassified, and retries that are due. */
@Injectable()
export class ClassifyToolsJob {
  private readonly logger = new Logger(ClassifyToolsJob.name);

  constructor(
    private readonly worker: ClassificationWorker,
    private readonly upkeep: Upkeep,
  ) {}

  @Interval(LOOK_AGAIN_MS)
  async lookAgain(): Promise<void> {
    try {
      // Classifying may take minutes, for which other comparisons do not wait.
      if (await this.upkeep.run(() => this.worker.mayHaveWork())) await this.worker.lookAgain();
    } catch (error) {
      this.logger.error({ err: error }, 'classification.interrupted');
    }
  }
}
