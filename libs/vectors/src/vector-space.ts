import type { FailPoints } from '@app/platform';
import type { Embedder } from './embedder.js';
import type { VectorRows } from './tool-vector.store.js';
import type { VectorFilter, VectorHit, VectorIndex } from './vector-index.js';
import type { VectorItem } from './vector-item.js';
import { EmbeddingFailed } from './vectors.errors.js';

const ITEMS_PER_BATCH = 500;
/** People repeat their queries, and a remote model costs a round trip each. */
const MAX_CACHED_QUERIES = 1_000;
const PROBE = 'a tool';

/** One model and the index of its vectors. */
export class VectorSpace {
  private dimensions: number | undefined;
  /** What the index holds, as far as this process knows; read again after any failure. */
  private stored: Map<string, string> | undefined;
  private readonly queries = new Map<string, Float32Array | undefined>();
  /** Fingerprints of items the model has no vector for; asking again would give the same. */
  private readonly hopeless = new Set<string>();
  private filled = false;

  constructor(
    readonly embedder: Embedder,
    private readonly index: VectorIndex,
    private readonly rows?: VectorRows,
    private readonly failPoints?: FailPoints,
  ) {}

  /** It held everything once: from then on it is at most a little behind. */
  get isFilled(): boolean {
    return this.filled;
  }

  /** Makes the index hold exactly these items. */
  async converge(items: readonly VectorItem[], fresh = false): Promise<void> {
    try {
      await this.open();
      if (fresh || !this.stored) this.stored = new Map(await this.index.stored());
      const stored = this.stored;
      await this.removeOthers(items, stored);
      const stale = items.filter(
        (item) =>
          stored.get(String(item.toolId)) !== this.fingerprint(item) &&
          !this.hopeless.has(item.fingerprint),
      );
      for (let start = 0; start < stale.length; start += ITEMS_PER_BATCH) {
        await this.write(stale.slice(start, start + ITEMS_PER_BATCH), stored);
      }
      this.filled = true;
    } catch (error) {
      this.stored = undefined;
      throw error;
    }
  }

  /** For each text the nearest tools; none for a text the model has no vector for. */
  async search(
    texts: readonly string[],
    limit: number,
    filter: VectorFilter,
    signal?: AbortSignal,
  ): Promise<(readonly VectorHit[])[]> {
    const vectors = await this.embedQueries(texts, signal);
    const usable = vectors.filter((vector) => vector !== undefined);
    const found = usable.length > 0 ? await this.index.search(usable, limit, filter) : [];
    let next = 0;
    return vectors.map((vector) => (vector ? (found[next++] ?? []) : []));
  }

  async embedQueries(
    texts: readonly string[],
    signal?: AbortSignal,
  ): Promise<(Float32Array | undefined)[]> {
    const unknown = [...new Set(texts.filter((text) => !this.queries.has(text)))];
    if (unknown.length > 0) {
      const embedded = await this.embedder.embed(unknown, signal);
      unknown.forEach((text, i) => this.queries.set(text, embedded[i]));
    }
    const vectors = texts.map((text) => this.queries.get(text));
    for (const oldest of this.queries.keys()) {
      if (this.queries.size <= MAX_CACHED_QUERIES) break;
      this.queries.delete(oldest);
    }
    return vectors;
  }

  private async open(): Promise<void> {
    if (this.dimensions === undefined) {
      const [probe] = await this.embedder.embed([PROBE]);
      if (!probe) throw new EmbeddingFailed(this.embedder.modelId, 'it answered no usable vector');
      this.dimensions = probe.length;
    }
    await this.index.open(this.dimensions);
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

  private async write(items: readonly VectorItem[], stored: Map<string, string>): Promise<void> {
    const vectors = await this.vectorsOf(items);
    const points = items.flatMap((item) => {
      const vector = vectors.get(item.toolId);
      if (!vector) {
        this.hopeless.add(item.fingerprint);
        return [];
      }
      const { toolId, payload } = item;
      return [{ id: String(toolId), vector, payload, fingerprint: this.fingerprint(item) }];
    });
    await this.index.upsert(points);
    this.failPoints?.pass('vectors.indexed');
    for (const { id, fingerprint } of points) stored.set(id, fingerprint);
  }

  /** From rows where the text is the same, else from the model. */
  private async vectorsOf(items: readonly VectorItem[]): Promise<Map<number, Float32Array>> {
    const { modelId } = this.embedder;
    const ids = items.map((item) => item.toolId);
    const known = new Map((await this.rows?.load(modelId, ids))?.map((row) => [row.toolId, row]));
    const vectors = new Map<number, Float32Array>();
    const unknown = items.filter((item) => {
      const row = known.get(item.toolId);
      const usable = row?.textHash === item.textHash && row.vector.length === this.dimensions;
      if (usable) vectors.set(item.toolId, row.vector);
      return !usable;
    });
    if (unknown.length === 0) return vectors;
    const embedded = await this.embedder.embed(unknown.map((item) => item.text));
    this.failPoints?.pass('vectors.embedded');
    const rows = unknown.flatMap(({ toolId, textHash }, i) => {
      const vector = embedded[i];
      return vector ? [{ toolId, textHash, vector }] : [];
    });
    await this.rows?.save(modelId, rows);
    this.failPoints?.pass('vectors.saved');
    for (const { toolId, vector } of rows) vectors.set(toolId, vector);
    return vectors;
  }

  /** The same text under another model is another vector. */
  private fingerprint(item: VectorItem): string {
    return `${this.embedder.modelId} ${item.fingerprint}`;
  }
}
