import { QdrantClient, type Schemas } from '@qdrant/js-client-rest';
import { v5 as uuidv5 } from 'uuid';
import { z } from 'zod';
import { VectorIndexFailed } from '../vectors.errors.js';
import type { VectorFilter, VectorHit, VectorIndex, VectorPoint } from './vector-index.js';

export interface QdrantSettings {
  readonly url: string;
  readonly apiKey: string | undefined;
}

/** For UUIDs derived from ids, so that every replica writes the same point. */
const POINT_NAMESPACE = '6f1c1f0e-7c0b-5b0e-9a52-3d1f8f6f2a77';
/** Fields of this class beside the payload of the contract. */
const KEY_FIELD = 'key';
const FINGERPRINT_FIELD = 'fingerprint';

const TIMEOUT_MS = 5_000;
const POINTS_PER_REQUEST = 200;
const POINTS_PER_PAGE = 1_000;

const ourPayload = z.object({ [KEY_FIELD]: z.string(), [FINGERPRINT_FIELD]: z.string() });

/** One Qdrant collection; filters are applied by Qdrant. */
export class QdrantIndex implements VectorIndex {
  private readonly client: QdrantClient;

  constructor(
    settings: QdrantSettings,
    private readonly collection: string,
    private readonly filterFields: Readonly<Record<string, 'keyword' | 'bool'>>,
  ) {
    this.client = new QdrantClient({
      url: settings.url,
      // As a header: the client's own option prints a warning for http: URLs.
      ...(settings.apiKey && { headers: { 'api-key': settings.apiKey } }),
      timeout: TIMEOUT_MS,
      // Otherwise the client sends another request and prints warnings to the console.
      checkCompatibility: false,
    });
  }

  open(dimensions: number): Promise<void> {
    return this.ask(async () => {
      const { exists } = await this.client.collectionExists(this.collection);
      if (exists) {
        const { size, indexed } = await this.inspect();
        if (size === dimensions) return this.indexFields(indexed);
        await this.refuseForeignPoints();
        await this.client.deleteCollection(this.collection);
      }
      await this.client.createCollection(this.collection, {
        vectors: { size: dimensions, distance: 'Cosine' },
      });
      await this.indexFields([]);
    });
  }

  /** A collection of an earlier release may lack some. */
  private async indexFields(indexed: readonly string[]): Promise<void> {
    for (const [field, schema] of Object.entries(this.filterFields)) {
      if (indexed.includes(field)) continue;
      await this.client.createPayloadIndex(this.collection, {
        field_name: field,
        field_schema: schema,
        wait: true,
      });
    }
  }

  stored(): Promise<ReadonlyMap<string, string>> {
    return this.ask(async () => {
      const found = new Map<string, string>();
      let offset: Schemas['ExtendedPointId'] | undefined;
      do {
        const page = await this.client.scroll(this.collection, {
          limit: POINTS_PER_PAGE,
          with_payload: [KEY_FIELD, FINGERPRINT_FIELD],
          with_vector: false,
          ...(offset !== undefined && { offset }),
        });
        for (const point of page.points) {
          const payload = ourPayload.safeParse(point.payload);
          if (payload.success) found.set(payload.data[KEY_FIELD], payload.data[FINGERPRINT_FIELD]);
        }
        const next = page.next_page_offset;
        offset = typeof next === 'string' || typeof next === 'number' ? next : undefined;
      } while (offset !== undefined);
      return found;
    });
  }

  upsert(points: readonly VectorPoint[]): Promise<void> {
    return this.ask(async () => {
      for (let start = 0; start < points.length; start += POINTS_PER_REQUEST) {
        await this.client.upsert(this.collection, {
          wait: true,
          points: points.slice(start, start + POINTS_PER_REQUEST).map((point) => ({
            id: pointId(point.id),
            vector: [...point.vector],
            payload: {
              ...point.payload,
              [KEY_FIELD]: point.id,
              [FINGERPRINT_FIELD]: point.fingerprint,
            },
          })),
        });
      }
    });
  }

  remove(ids: readonly string[]): Promise<void> {
    return this.ask(async () => {
      if (ids.length === 0) return;
      await this.client.delete(this.collection, { wait: true, points: ids.map(pointId) });
    });
  }

  search(
    vectors: readonly Float32Array[],
    limit: number,
    filter: VectorFilter,
  ): Promise<readonly (readonly VectorHit[])[]> {
    return this.ask(async () => {
      const answers = await this.client.queryBatch(this.collection, {
        searches: vectors.map((vector) => ({
          query: [...vector],
          limit,
          filter: toQdrantFilter(filter),
          with_payload: [KEY_FIELD, FINGERPRINT_FIELD],
        })),
      });
      return answers.map(({ points }) => toHits(points));
    });
  }

  private async inspect(): Promise<{ size: number | undefined; indexed: readonly string[] }> {
    const { config, payload_schema } = await this.client.getCollection(this.collection);
    const size = z.object({ size: z.number() }).safeParse(config.params.vectors);
    return {
      size: size.success ? size.data.size : undefined,
      indexed: Object.keys(payload_schema ?? {}),
    };
  }

  /** Refuses to drop a collection with points that another program wrote. */
  private async refuseForeignPoints(): Promise<void> {
    const { points } = await this.client.scroll(this.collection, { limit: 10, with_payload: true });
    if (points.some((point) => !ourPayload.safeParse(point.payload).success)) {
      throw new VectorIndexFailed(
        this.collection,
        'Qdrant has a collection of this name with vectors of another size that Switchboard did not write',
      );
    }
  }

  private async ask<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof VectorIndexFailed) throw error;
      throw new VectorIndexFailed(this.collection, reasonOf(error), error);
    }
  }
}

function pointId(key: string): string {
  return uuidv5(key, POINT_NAMESPACE);
}

function toQdrantFilter(filter: VectorFilter): Schemas['Filter'] {
  return {
    must: Object.entries(filter).map(([key, values]) => {
      const texts = values.filter((value) => typeof value === 'string');
      // Qdrant's `any` does not accept booleans.
      return texts.length === values.length
        ? { key, match: { any: texts } }
        : { should: values.map((value) => ({ key, match: { value } })) };
    }),
  };
}

/** Sorted by id for equal scores, whose order Qdrant does not define. */
function toHits(points: readonly Schemas['ScoredPoint'][]): VectorHit[] {
  return points
    .flatMap(({ payload, score }) => {
      const ours = ourPayload.safeParse(payload);
      return ours.success && Number.isFinite(score) ? [{ id: ours.data[KEY_FIELD], score }] : [];
    })
    .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1));
}

/** Without Qdrant's message, which may repeat the request. */
function reasonOf(error: unknown): string {
  if (error instanceof Error && 'status' in error && typeof error.status === 'number') {
    return `Qdrant answered HTTP ${error.status}`;
  }
  return 'Qdrant does not answer';
}
