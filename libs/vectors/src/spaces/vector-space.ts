import { Logger } from '@nestjs/common';
import { type Clock, type FailPoints, inSlices, type Sliced } from '@app/platform';
import type { Embedder } from '../embed/embedder.js';
import type { VectorRow, VectorRows } from './tool-vector.store.js';
import type { VectorFilter, VectorHit, VectorIndex } from '../indexes/vector-index.js';
import { TEXT_CHARS, type VectorItem } from './vector-item.js';
import { EmbeddingFailed } from '../vectors.errors.js';

/** Batch size: the embedded database blocks the event loop during a write. */
const ITEMS_PER_BATCH = 200;
/** Queries repeat, and a remote model costs a round trip each. */
const MAX_CACHED_QUERIES = 1_000;
const PROBE = 'a tool';
/** When a text without a vector is tried again. */
const SET_ASIDE_MS = 600_000;
const NAMED_SET_ASIDE = 5;
const FOUND_BY_WORDS = 'until the next attempt in 10 minutes only lexical search finds them';

/** For whom and among what a query is searched. */
export interface SearchScope {
  /** Who waits for the answer; a model that embeds one text at a time takes turns. */
  readonly asker?: string | undefined;
  /** Ids of the tools that are wanted, if the filter lets others pass. */
  readonly among?: ReadonlySet<number> | undefined;
}

/** A model with the index of its vectors. */
export class VectorSpace {
  private readonly logger = new Logger(VectorSpace.name);
  private dimensions: number | undefined;
  private isProbed = false;
  /** Fingerprints in the index, by id; read again after a failure. */
  private stored: Map<string, string> | undefined;
  private readonly queries = new Map<string, Float32Array>();
  /** Fingerprints of items without a vector, with the time of the next attempt. */
  private setAside: ReadonlyMap<string, number> = new Map();
  private filled = false;

  constructor(
    readonly embedder: Embedder,
    private readonly index: VectorIndex,
    private readonly clock: Clock,
    private readonly rows?: VectorRows,
    private readonly failPoints?: FailPoints,
  ) {}

  /** The model whose vectors are kept in rows; undefined if it makes them faster than rows are read. */
  get keptModelId(): string | undefined {
    return this.rows && this.embedder.modelId;
  }

  /** Whether the index was complete once. */
  get isFilled(): boolean {
    return this.filled;
  }

  /** Makes the index equal to these items. */
  async converge(items: readonly VectorItem[], fresh = false): Promise<void> {
    try {
      await this.open();
      if (fresh || !this.stored) this.stored = new Map(await this.index.stored());
      const stored = this.stored;
      await this.removeOthers(items, stored);
      const stale = await this.staleAmong(items, stored);
      const now = this.clock.monotonic();
      const waiting = new Map(
        stale.flatMap(({ fingerprint }) => {
          const until = this.setAside.get(fingerprint) ?? 0;
          return until > now ? [[fingerprint, until]] : [];
        }),
      );
      const due = stale.filter(({ fingerprint }) => !waiting.has(fingerprint));
      for (const batch of batches(due)) {
        const left = await this.write(batch, stored);
        for (const { fingerprint } of left) waiting.set(fingerprint, now + SET_ASIDE_MS);
        this.logSetAside(left);
      }
      this.setAside = waiting;
      this.filled = true;
    } catch (error) {
      this.stored = undefined;
      this.isProbed = false;
      throw error;
    }
  }

  /**
   * Writes only these items and removes these ids: the rest of the index has to be equal already. False if that is not
   * known, because it was never complete or the last change failed.
   */
  async follow(items: readonly VectorItem[], gone: readonly number[]): Promise<boolean> {
    const { stored } = this;
    if (!stored || !this.filled) return false;
    try {
      const ids = gone.map(String).filter((id) => stored.has(id));
      for (const batch of batches(ids)) {
        await this.index.remove(batch);
        for (const id of batch) stored.delete(id);
      }
      for (const batch of batches(await this.staleAmong(items, stored))) {
        await this.write(batch, stored);
      }
      return true;
    } catch (error) {
      this.stored = undefined;
      throw error;
    }
  }

  /** Fills the index from rows only, without calling the model, which is being replaced. */
  async restore(items: readonly VectorItem[]): Promise<void> {
    const rows = this.rows ?? { load: () => Promise.resolve([]) };
    for (const some of batches(items)) {
      const batch = new Map(some.map((item) => [item.toolId, item]));
      const known = await rows.load(this.embedder.modelId, [...batch.keys()]);
      this.dimensions ??= known[0]?.vector.length;
      if (this.dimensions === undefined) continue;
      await this.index.open(this.dimensions);
      await this.index.upsert(
        known.flatMap(({ toolId, vector }) => {
          const item = batch.get(toolId);
          return item && vector.length === this.dimensions
            ? [{ id: String(toolId), vector, payload: item.payload, fingerprint: '' }]
            : [];
        }),
      );
      this.filled = true;
    }
  }

  /** A copy of the vector of the text that the item has; undefined where it would have to be fetched or made. */
  vectorOf(item: VectorItem): Float32Array | undefined {
    const { stored } = this;
    if (!stored || !this.isSameText(item, stored)) return undefined;
    return this.index.vectorOf?.(String(item.toolId));
  }

  /** The nearest tools for each text; none for a text without a vector. */
  async search(
    texts: readonly string[],
    limit: number,
    filter: VectorFilter,
    signal?: AbortSignal,
    { asker, among }: SearchScope = {},
  ): Promise<(readonly VectorHit[])[]> {
    const vectors = (await this.embedQueries(texts, signal, asker)).map((vector) =>
      vector?.length === this.dimensions ? vector : undefined,
    );
    const usable = vectors.filter((vector) => vector !== undefined);
    const found = usable.length > 0 ? await this.index.search(usable, limit, filter, among) : [];
    let next = 0;
    return vectors.map((vector) => (vector ? (found[next++] ?? []) : []));
  }

  private async embedQueries(
    texts: readonly string[],
    signal?: AbortSignal,
    asker?: string,
  ): Promise<(Float32Array | undefined)[]> {
    const unknown = [...new Set(texts.filter((text) => !this.queries.has(text)))];
    if (unknown.length > 0) {
      const embedded = await this.embedder.embed(unknown, signal, asker);
      unknown.forEach((text, i) => {
        const vector = embedded[i];
        if (vector) this.queries.set(text, vector);
      });
    }
    const vectors = texts.map((text) => this.queries.get(text));
    for (const oldest of this.queries.keys()) {
      if (this.queries.size <= MAX_CACHED_QUERIES) break;
      this.queries.delete(oldest);
    }
    return vectors;
  }

  private async open(): Promise<void> {
    if (this.dimensions === undefined || !this.isProbed) {
      const [probe] = await this.embedder.embed([PROBE]);
      if (!probe) throw new EmbeddingFailed(this.embedder.modelId, 'it returned no usable vector');
      // A model may be replaced under the same name.
      if (probe.length !== this.dimensions) this.filled = false;
      this.dimensions = probe.length;
      this.isProbed = true;
    }
    await this.index.open(this.dimensions);
  }

  private staleAmong(
    items: readonly VectorItem[],
    stored: ReadonlyMap<string, string>,
  ): Promise<VectorItem[]> {
    return inSlices(this.comparing(items, stored));
  }

  private *comparing(
    items: readonly VectorItem[],
    stored: ReadonlyMap<string, string>,
  ): Sliced<VectorItem[]> {
    const stale: VectorItem[] = [];
    for (const item of items) {
      yield;
      if (stored.get(String(item.toolId)) !== this.fingerprint(item)) stale.push(item);
    }
    return stale;
  }

  private async removeOthers(
    items: readonly VectorItem[],
    stored: Map<string, string>,
  ): Promise<void> {
    const wanted = new Set(items.map((item) => String(item.toolId)));
    const others = [...stored.keys()].filter((id) => !wanted.has(id));
    const existing = this.rows && (await this.rows.existing(others.map(Number)));
    const gone = others.filter((id) => !existing?.has(Number(id)));
    if (gone.length === 0) return;
    await this.index.remove(gone);
    for (const id of gone) stored.delete(id);
  }

  /** Returns the items without a vector. */
  private async write(
    items: readonly VectorItem[],
    stored: Map<string, string>,
  ): Promise<readonly VectorItem[]> {
    const { vectors, hasNew } = await this.vectorsOf(items, stored);
    const points = items.flatMap((item) => {
      const { toolId, payload } = item;
      const vector = vectors.get(toolId);
      if (!vector) return [];
      return [{ id: String(toolId), vector, payload, fingerprint: this.fingerprint(item) }];
    });
    await this.index.upsert(points);
    if (hasNew) this.failPoints?.pass('vectors.indexed');
    for (const { id, fingerprint } of points) stored.set(id, fingerprint);
    return items.filter(({ toolId }) => !vectors.has(toolId));
  }

  private logSetAside(items: readonly VectorItem[]): void {
    const news = items.filter(({ fingerprint }) => !this.setAside.has(fingerprint));
    if (news.length === 0) return;
    const { modelId } = this.embedder;
    const tools = news.slice(0, NAMED_SET_ASIDE).map(({ payload }) => payload['name']);
    this.logger.warn(
      { model_id: modelId, tools, count: news.length, hint: FOUND_BY_WORDS },
      'vectors.tools_without_vector',
    );
  }

  /** From the index or rows if the text is unchanged, else from the model. */
  private async vectorsOf(
    items: readonly VectorItem[],
    stored: ReadonlyMap<string, string>,
  ): Promise<{ vectors: ReadonlyMap<number, Float32Array>; hasNew: boolean }> {
    const { modelId } = this.embedder;
    const vectors = new Map<number, Float32Array>();
    for (const item of items) {
      const indexed = this.isSameText(item, stored) && this.index.vectorOf?.(String(item.toolId));
      if (indexed) vectors.set(item.toolId, indexed);
    }
    const others = items.filter(({ toolId }) => !vectors.has(toolId));
    if (others.length === 0) return { vectors, hasNew: false };
    const ids = others.map(({ toolId }) => toolId);
    const known = new Map((await this.rows?.load(modelId, ids))?.map((row) => [row.toolId, row]));
    const unknown = others.filter((item) => {
      const row = known.get(item.toolId);
      const usable = row?.vector.length === this.dimensions && row?.textHash === item.textHash;
      if (usable) vectors.set(item.toolId, row.vector);
      return !usable;
    });
    if (unknown.length === 0) return { vectors, hasNew: false };
    const embedded = await this.embedder.embed(unknown.map((item) => item.text));
    this.failPoints?.pass('vectors.embedded');
    const made = unknown.flatMap((item, i) => {
      const vector = embedded[i];
      return vector ? [{ item, vector }] : [];
    });
    // The hash of a text takes as long as its vector by the built-in model, which has no rows.
    const { rows } = this;
    if (rows)
      await rows.save(
        modelId,
        made.map(({ item, vector }) => rowOf(item, vector)),
      );
    this.failPoints?.pass('vectors.saved');
    for (const { item, vector } of made) vectors.set(item.toolId, vector);
    return { vectors, hasNew: made.length > 0 };
  }

  private isSameText(item: VectorItem, stored: ReadonlyMap<string, string>): boolean {
    const beginning = this.embedder.modelId.length + 1 + TEXT_CHARS;
    const known = stored.get(String(item.toolId))?.slice(0, beginning);
    return known === this.fingerprint(item).slice(0, beginning);
  }

  /** With the model, because vectors differ by model. */
  private fingerprint(item: VectorItem): string {
    return `${this.embedder.modelId} ${item.fingerprint}`;
  }
}

function rowOf({ toolId, textHash }: VectorItem, vector: Float32Array): VectorRow {
  return { toolId, textHash, vector };
}

function* batches<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += ITEMS_PER_BATCH) {
    yield items.slice(start, start + ITEMS_PER_BATCH);
  }
}
