import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { ClassificationWorker } from './classification-worker.js';

const LOOK_AGAIN_MS = 15_000;

/** Finds what a lost event or a crash left, and what is due again after a failure. */
@Injectable()
export class ClassifyToolsJob {
  constructor(private readonly worker: ClassificationWorker) {}

  @Interval(LOOK_AGAIN_MS)
  async lookAgain(): Promise<void> {
    await this.worker.lookAgain();
  }
}
