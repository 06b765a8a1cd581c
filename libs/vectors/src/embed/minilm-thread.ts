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

/** Jobs of one asker that wait; further ones would pass their deadline. */
const MAX_OF_ASKER = 64;

/** It works, and embedded the texts of others until the deadline of this one. */
export class ThreadBusy extends Error {
  constructor() {
    super('it is busy with other queries');
  }
}

interface EmbeddingJob {
  /** How many texts the thread had embedded before. */
  readonly embedded: number;
  readonly texts: readonly (readonly number[])[];
  /** Results so far, for the first texts. */
  readonly vectors: Float32Array[];
  readonly resolve: (vectors: Float32Array[]) => void;
  readonly reject: (reason: Error) => void;
}

/**
 * The worker thread of the model, started on first use. It embeds one text at a time, of each asker in turn; jobs with a
 * deadline take precedence over indexing.
 */
export class MinilmThread {
  /** With a deadline, by asker; the one whose turn is next comes first. */
  private readonly urgent = new Map<string, EmbeddingJob[]>();
  private patient: EmbeddingJob[] = [];
  private worker: Worker | undefined;
  private current: EmbeddingJob | undefined;
  private asked = 0;
  private embedded = 0;

  constructor(
    private readonly folder: string = installedFolder('libs/vectors/minilm', import.meta.url),
  ) {}

  /** A unit vector for each text (ids of word pieces). Rejects with a reason that can be shown, or ThreadBusy. */
  embed(
    texts: readonly (readonly number[])[],
    signal?: AbortSignal,
    asker = '',
  ): Promise<readonly Float32Array[]> {
    if (texts.length === 0) return Promise.resolve([]);
    return new Promise((resolve, reject) => {
      const job: EmbeddingJob = { texts, vectors: [], embedded: this.embedded, resolve, reject };
      if (!signal) this.patient.push(job);
      else if (!this.queue(job, asker)) {
        reject(new ThreadBusy());
        return;
      }
      const expire = (): void => {
        const isSlow = this.embedded === job.embedded;
        this.drop(job, isSlow ? new Error('it did not answer in time') : new ThreadBusy());
      };
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
    const job = this.nextJob();
    const pieces = job?.texts[job.vectors.length];
    if (!job || !pieces) return;
    try {
      this.worker ??= this.start();
    } catch (error) {
      this.dropAll(error instanceof Error ? error.message : 'it cannot be started');
      return;
    }
    this.current = job;
    this.worker.postMessage({ id: ++this.asked, pieces });
  }

  private queue(job: EmbeddingJob, asker: string): boolean {
    const own = this.urgent.get(asker) ?? [];
    if (own.length >= MAX_OF_ASKER) return false;
    this.urgent.set(asker, [...own, job]);
    return true;
  }

  private nextJob(): EmbeddingJob | undefined {
    for (const [asker, own] of this.urgent) {
      this.urgent.delete(asker);
      this.urgent.set(asker, own);
      return own[0];
    }
    return this.patient[0];
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
    this.embedded += 1;
    if (!answer?.vector) {
      this.drop(current, new Error(answer?.problem ?? 'its answer is not a vector'));
    } else if (current.vectors.push(answer.vector) === current.texts.length) {
      this.forget(current);
      current.resolve(current.vectors);
    }
    this.next();
  }

  private drop(job: EmbeddingJob, reason: Error): void {
    this.forget(job);
    job.reject(reason);
  }

  private dropAll(reason: string): void {
    this.current = undefined;
    const all = [...this.urgent.values(), this.patient].flat();
    for (const job of all) this.drop(job, new Error(reason));
  }

  private forget(job: EmbeddingJob): void {
    this.patient = this.patient.filter((other) => other !== job);
    for (const [asker, own] of this.urgent) {
      const left = own.filter((other) => other !== job);
      if (left.length === 0) this.urgent.delete(asker);
      else if (left.length < own.length) this.urgent.set(asker, left);
    }
  }
}
