import { Logger } from '@nestjs/common';
import { AppError, type Clock } from '@app/platform';
import type { VectorRows } from './tool-vector.store.js';
import type { VectorFilter } from '../indexes/vector-index.js';
import type { VectorItem } from './vector-item.js';
import type { SearchScope, VectorSpace } from './vector-space.js';
import { EmbeddingBusy } from '../vectors.errors.js';

export interface ToolHit {
  readonly id: number;
  /** Cosine. */
  readonly score: number;
}

export interface ToolVectorAnswer {
  /** One list per text; undefined if no model and index are available. */
  readonly hits: readonly (readonly ToolHit[])[] | undefined;
  /** The model that embedded the texts; undefined without hits. */
  readonly modelId: string | undefined;
  /** Why the configured model and index were not used. */
  readonly problem: string | undefined;
}

/** How long a search waits for a remote model before it continues without vectors. */
const QUERY_TIMEOUT_MS = 3_000;
/** After a failure the same space is not used for this long. */
const PAUSE_MS = 10_000;

/**
 * Vectors of all tools. The configured space is used once it is complete; until then, or while it fails, the
 * space of the previously configured model if available, else the local one.
 */
export class ToolVectors {
  private readonly logger = new Logger(ToolVectors.name);
  private previous: VectorSpace | undefined;
  private indexing: Promise<void> = Promise.resolve();
  private readonly problems = new Map<VectorSpace, { message: string; until: number }>();

  constructor(
    private readonly configured: VectorSpace,
    private readonly fallback: VectorSpace | undefined,
    private readonly rows: VectorRows,
    private readonly clock: Clock,
    /** The space of a previously configured model, if it is still reachable. */
    private readonly spaceOf: (modelId: string) => Promise<VectorSpace | undefined> = () =>
      Promise.resolve(undefined),
  ) {}

  get modelId(): string {
    return this.configured.embedder.modelId;
  }

  /** Whether model and index are inside this process. */
  get isLocal(): boolean {
    return this.fallback === undefined;
  }

  /** By the built-in model, whose vectors are in this process whatever is configured; undefined until it is indexed. */
  builtInVectorOf(item: VectorItem): Float32Array | undefined {
    return (this.fallback ?? this.configured).vectorOf(item);
  }

  /** Resolves when vectors of the built-in model that are being written now are there. */
  builtInSettled(): Promise<void> {
    return this.indexing;
  }

  /** Why the configured model or index is not in use; undefined if it is. */
  get problem(): string | undefined {
    return this.problems.get(this.configured)?.message;
  }

  /** Makes the vectors equal to these tools; throws if a part must be retried. */
  async converge(items: readonly VectorItem[], fresh = false): Promise<void> {
    if (!this.fallback) return this.indexed(this.convergeConfigured(items, fresh));
    await this.indexed(this.fallback.converge(items, fresh));
    return this.convergeConfigured(items, fresh);
  }

  private async convergeConfigured(items: readonly VectorItem[], fresh: boolean): Promise<void> {
    const before = this.configured.isFilled;
    if (!before) await this.restorePrevious(items);
    try {
      await this.configured.converge(items, fresh);
    } catch (error) {
      this.pause(this.configured, error);
      throw error;
    }
    this.problems.delete(this.configured);
    this.previous = undefined;
    if (!before) await this.rows.forgetOtherModels(this.configured.keptModelId);
  }

  /**
   * Writes and removes only these tools, which is enough while all others are indexed. False if `converge` has to compare
   * all of them: only an index in this process is known to hold what was written to it.
   */
  async follow(items: readonly VectorItem[], gone: readonly number[]): Promise<boolean> {
    if (!this.isLocal) return false;
    try {
      return await this.indexed(this.configured.follow(items, gone));
    } catch (error) {
      this.pause(this.configured, error);
      throw error;
    }
  }

  /** By the built-in model. */
  private indexed<T>(writing: Promise<T>): Promise<T> {
    this.indexing = writing.then(
      () => undefined,
      () => undefined,
    );
    return writing;
  }

  /** After a change of model the old vectors are used until the new ones are complete. */
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
    scope?: SearchScope,
  ): Promise<ToolVectorAnswer> {
    let busy: string | undefined;
    for (const space of this.spaces()) {
      if (!space.isFilled || this.isPaused(space)) continue;
      try {
        const signal = AbortSignal.timeout(QUERY_TIMEOUT_MS);
        const found = await space.search(texts, limit, filter, signal, scope);
        const hits = found.map((list) => list.map(({ id, score }) => ({ id: Number(id), score })));
        const { modelId } = space.embedder;
        const problem = space === this.configured ? undefined : (busy ?? this.reason());
        return { hits, modelId, problem };
      } catch (error) {
        // The next query may have its turn in time.
        if (error instanceof EmbeddingBusy) busy = error.message;
        else this.pause(space, error);
      }
    }
    return { hits: undefined, modelId: undefined, problem: busy ?? this.reason() };
  }

  private spaces(): VectorSpace[] {
    return [this.configured, this.previous, this.fallback].filter((space) => space !== undefined);
  }

  private isPaused(space: VectorSpace): boolean {
    return (this.problems.get(space)?.until ?? 0) > this.clock.monotonic();
  }

  private reason(): string {
    return this.problem ?? `The vectors of ${this.modelId} are not complete yet`;
  }

  private pause(space: VectorSpace, error: unknown): void {
    const message = error instanceof AppError ? error.message : 'The vectors cannot be stored';
    // Logged once per problem; without the cause, whose text may contain an API key.
    if (this.problems.get(space)?.message !== message)
      this.logger.warn({ reason: message }, 'vectors.not_indexed');
    this.problems.set(space, { message, until: this.clock.monotonic() + PAUSE_MS });
  }
}
