import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { RowWatches } from '@app/platform';
import { QUEUE_MARK, lookIn } from './classification-queue.store.js';
import { ClassificationWorker } from './classification-worker.js';

/** Finds tools whose retry is due, and those that no event told of. */
@Injectable()
export class ClassifyToolsJob implements OnModuleInit {
  private readonly logger = new Logger(ClassifyToolsJob.name);

  constructor(
    private readonly worker: ClassificationWorker,
    private readonly rows: RowWatches,
  ) {}

  onModuleInit(): void {
    const failed = (error: unknown): void =>
      this.logger.error({ err: error }, 'classification.interrupted');
    this.rows.add({
      mark: QUEUE_MARK,
      look: async (mark) => {
        // Classifying may take minutes, for which other comparisons do not wait.
        if (this.worker.mayHaveWork(lookIn(mark))) void this.worker.lookAgain().catch(failed);
      },
      failed,
    });
  }
}
