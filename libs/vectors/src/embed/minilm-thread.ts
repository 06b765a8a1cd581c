import { installedFolder } from '@app/platform';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { types } from 'node:util';
import { Worker } from 'node:worker_threads';
import { z } from 'zod';

const answerSchema = z.object({
  id: z.number(),
  vector: z.custom<Float32Array>(types.isFloat32Array).optional(),
  problem: z.string().optional(),
});

interface EmbeddingJob {
  readonly texts: readonly (readonly number[])[];
  /** Results so far, for the first texts. */
  readonly vectors: Float32Array[];
  readonly resolve: (vectors: Float32Array[]) => void;
  readonly reject: (reason: Error) => void;
}

/**
 * The worker thread of the model, started on first use. It embeds one text at a time; jobs with a deadline
 * take precedence over indexing.
 */
export class MinilmThread {
  private urgent: EmbeddingJob[] = [];
  private patient: EmbeddingJob[] = [];
  private worker: Worker | undefined;
  private current: EmbeddingJob | undefined;
  private asked = 0;

  constructor(
    private readonly folder: string = installedFolder('libs/vectors/minilm', import.meta.url),
  ) {}

  /** A unit vector for each text (ids of word pieces). Rejects with a reason that can be shown. */
  embed(
    texts: readonly (readonly number[])[],
    signal?: AbortSignal,
  ): Promise<readonly Float32Array[]> {
    return new Promise((resolve, reject) => {
      const job: EmbeddingJob = { texts, vectors: [], resolve, reject };
      (signal ? this.urgent : this.patient).push(job);
      const expire = (): void => this.drop(job, 'it did not answer in time');
      if (signal?.aborted) expire();
      signal?.addEventListener('abort', expire, { once: true });
      this.next();
    });
  }

  async close(): Promise<void> {
    const { worker } = this;
    this.worker = undefined;
    this.dropAll('the service stops');
    await worker?.terminate();
  }

  private next(): void {
    if (this.current) return;
    const job = this.urgent[0] ?? this.patient[0];
    if (!job) return;
    const pieces = job.texts[job.vectors.length];
    if (!pieces) {
      this.forget(job);
      job.resolve(job.vectors);
      this.next();
      return;
    }
    try {
      this.worker ??= this.start();
    } catch (error) {
      this.dropAll(error instanceof Error ? error.message : 'it cannot be started');
      return;
    }
    this.current = job;
    this.worker.postMessage({ id: ++this.asked, pieces });
  }

  private start(): Worker {
    if (!existsSync(join(this.folder, 'node_modules'))) {
      throw new Error('it is not installed; `npm run minilm:install` does that');
    }
    const worker = new Worker(join(this.folder, 'worker.mjs'));
    // The thread must not keep the process alive.
    worker.unref();
    worker.on('message', (message) => this.settle(message));
    const ended = (): void => {
      if (this.worker !== worker) return;
      this.worker = undefined;
      this.dropAll('its thread has ended; `npm run minilm:install` repairs what is installed');
    };
    worker.on('error', ended);
    worker.on('exit', ended);
    return worker;
  }

  private settle(message: unknown): void {
    const { data: answer } = answerSchema.safeParse(message);
    const { current } = this;
    // Ignore answers of a terminated thread.
    if (!current || (answer && answer.id !== this.asked)) return;
    this.current = undefined;
    if (answer?.vector) current.vectors.push(answer.vector);
    else this.drop(current, answer?.problem ?? 'its answer is not a vector');
    this.next();
  }

  private drop(job: EmbeddingJob, reason: string): void {
    this.forget(job);
    job.reject(new Error(reason));
  }

  private dropAll(reason: string): void {
    this.current = undefined;
    for (const job of [...this.urgent, ...this.patient]) this.drop(job, reason);
  }

  private forget(job: EmbeddingJob): void {
    this.urgent = this.urgent.filter((other) => other !== job);
    this.patient = this.patient.filter((other) => other !== job);
  }
}
