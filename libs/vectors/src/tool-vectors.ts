import { Logger } from '@nestjs/common';
import { AppError, type Clock } from '@app/platform';
import type { VectorRows } from './tool-vector.store.js';
import type { VectorFilter } from './vector-index.js';
import type { VectorItem } from './vector-item.js';
import type { VectorSpace } from './vector-space.js';

export interface ToolHit {
  readonly id: number;
  /** Cosine. */
  readonly score: number;
}

export interface ToolVectorAnswer {
  /** For each text; undefined when no model and index can be asked. */
  readonly hits: readonly (readonly ToolHit[])[] | undefined;
  /** Why it is not the answer of the configured model and index. */
  readonly problem: string | undefined;
}

/** A query is worth this much waiting for a remote model; then words alone have to do. */
const QUERY_TIMEOUT_MS = 3_000;
/** After a failure queries do not wait for the same again so soon. */
const REST_MS = 10_000;

/**
 * Vectors of all tools. The configured space answers once it holds everything; until then that of the model
 * before it, if it can be asked; else, and while it fails, the local one, where there is one.
 */
export class ToolVectors {
  private readonly logger = new Logger(ToolVectors.name);
  private previous: VectorSpace | undefined;
  private readonly problems = new Map<VectorSpace, { message: string; until: number }>();

  constructor(
    private readonly configured: VectorSpace,
    private readonly standIn: VectorSpace | undefined,
    private readonly rows: VectorRows,
    private readonly clock: Clock,
    /** The space of a model that was configured before, if that can still be asked. */
    private readonly spaceOf: (modelId: string) => Promise<VectorSpace | undefined> = () =>
      Promise.resolve(undefined),
  ) {}

  get modelId(): string {
    return this.configured.embedder.modelId;
  }

  /** Nothing outside this process is asked. */
  get isLocal(): boolean {
    return this.standIn === undefined;
  }

  /** Why the configured model or index is not in use; undefined while all is well. */
  get problem(): string | undefined {
    return this.problems.get(this.configured)?.message;
  }

  /** Makes the vectors those of these tools; throws when a part of it has to be done again later. */
  async converge(items: readonly VectorItem[], fresh = false): Promise<void> {
    await this.standIn?.converge(items, fresh);
    const before = this.configured.isFilled;
    if (!before) await this.restorePrevious(items);
    try {
      await this.configured.converge(items, fresh);
    } catch (error) {
      this.note(this.configured, error);
      throw error;
    }
    this.problems.delete(this.configured);
    this.previous = undefined;
    if (!before) await this.rows.forgetOtherModels(this.modelId);
  }

  /** After a change of model the old index answers until the new one is made. */
  private async restorePrevious(items: readonly VectorItem[]): Promise<void> {
    if (this.previous) return;
    for (const modelId of await this.rows.modelIds()) {
      const space = modelId === this.modelId ? undefined : await this.spaceOf(modelId);
      if (!space) continue;
      await space.restore(items);
      this.previous = space;
      return;
    }
  }

  async search(
    texts: readonly string[],
    limit: number,
    filter: VectorFilter,
  ): Promise<ToolVectorAnswer> {
    for (const space of this.spaces()) {
      if (!space.isFilled || this.isResting(space)) continue;
      try {
        const signal = AbortSignal.timeout(QUERY_TIMEOUT_MS);
        const found = await space.search(texts, limit, filter, signal);
        const hits = found.map((list) => list.map(({ id, score }) => ({ id: Number(id), score })));
        return { hits, problem: space === this.configured ? undefined : this.reason() };
      } catch (error) {
        this.note(space, error);
      }
    }
    return { hits: undefined, problem: this.reason() };
  }

  private spaces(): VectorSpace[] {
    return [this.configured, this.previous, this.standIn].filter((space) => space !== undefined);
  }

  private isResting(space: VectorSpace): boolean {
    return (this.problems.get(space)?.until ?? 0) > this.clock.now().getTime();
  }

  private reason(): string {
    return this.problem ?? `The vectors of ${this.modelId} are still being made`;
  }

  private note(space: VectorSpace, error: unknown): void {
    const message = error instanceof AppError ? error.message : 'The vectors cannot be stored';
    // Once, not with every query; without the cause, whose text may repeat a key.
    if (this.problems.get(space)?.message !== message) this.logger.warn(message);
    this.problems.set(space, { message, until: this.clock.now().getTime() + REST_MS });
  }
}
