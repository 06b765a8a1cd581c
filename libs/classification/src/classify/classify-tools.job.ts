import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { ClassificationWorker } from './classification-worker.js';

const LOOK_AGAIN_MS = 15_000;

/** Finds tools that a lost event or a crash left unclassified, and retries that are due. */
@Injectable()
export class ClassifyToolsJob {
  constructor(private readonly worker: ClassificationWorker) {}

  @Interval(LOOK_AGAIN_MS)
  async lookAgain(): Promise<void> {
    await this.worker.lookAgain();
  }
}
