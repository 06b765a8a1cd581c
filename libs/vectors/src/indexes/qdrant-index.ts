import { v5 as uuidv5 } from 'uuid';
import { z } from 'zod';
import { VectorIndexFailed } from '../vectors.errors.js';
import { QdrantRefused, QdrantRequests, type QdrantSettings } from './qdrant-requests.js';
import type { VectorFilter, VectorHit, VectorIndex, VectorPoint } from './vector-index.js';

/** For UUIDs derived from ids, so that every replica writes the same point. */
const POINT_NAMESPACE = '6f1c1f0e-7c0b-5b0e-9a52-3d1f8f6f2a77';
/** Fields of this class beside the payload of the contract. */
const KEY_FIELD = 'key';
const FINGERPRINT_FIELD = 'fingerprint';

const POINTS_PER_REQUEST = 200;
const POINTS_PER_PAGE = 1_000;

const ourPayload = z.object({ [KEY_FIELD]: z.string(), [FINGERPRINT_FIELD]: z.string() });

/* The parts of Qdrant's answers that are read. */
const done = z.unknown();
const existence = z.object({ exists: z.boolean() });
const collectionInfo = z.object({
  config: z.object({ params: z.object({ vectors: z.unknown() }) }),
  payload_schema: z.record(z.string(), z.unknown()).nullish(),
});
const withPayload = z.object({ payload: z.unknown() });
const pageOfPoints = z.object({
  points: z.array(withPayload),
  next_page_offset: z.union([z.string(), z.number()]).nullish(),
});
const searchAnswers = z.array(
  z.object({ points: z.array(withPayload.extend({ score: z.number() })) }),
);
type Scored = z.infer<typeof searchAnswers>[number]['points'][number];

/** One Qdrant collection; filters are applied by Qdrant. */
export class QdrantIndex implements VectorIndex {
  private readonly requests: QdrantRequests;

  constructor(
    settings: QdrantSettings,
    private readonly collection: string,
    private readonly filterFields: Readonly<Record<string, 'keyword' | 'bool'>>,
  ) {
    this.requests = new QdrantRequests(settings, collection);
  }

  open(dimensions: number): Promise<void> {
    return this.ask(async () => {
      const { exists } = await this.requests.ask('GET', '/exists', existence);
      if (exists) {
        const { size, indexed } = await this.inspect();
        if (size === dimensions) return this.indexFields(indexed);
        await this.refuseForeignPoints();
        await this.requests.ask('DELETE', '', done);
      }
      await this.requests.ask('PUT', '', done, {
        vectors: { size: dimensions, distance: 'Cosine' },
      });
      await this.indexFields([]);
    });
  }

  /** A collection of an earlier release may lack some. */
  private async indexFields(indexed: readonly string[]): Promise<void> {
    for (const [field, schema] of Object.entries(this.filterFields)) {
      if (indexed.includes(field)) continue;
      await this.requests.ask('PUT', '/index?wait=true', done, {
        field_name: field,
        field_schema: schema,
      });
    }
  }

  stored(): Promise<ReadonlyMap<string, string>> {
    return this.ask(async () => {
      const found = new Map<string, string>();
      let offset: string | number | undefined;
      do {
        const page = await this.requests.ask('POST', '/points/scroll', pageOfPoints, {
          limit: POINTS_PER_PAGE,
          with_payload: [KEY_FIELD, FINGERPRINT_FIELD],
          with_vector: false,
          ...(offset !== undefined && { offset }),
        });
        for (const point of page.points) {
          const payload = ourPayload.safeParse(point.payload);
          if (payload.success) found.set(payload.data[KEY_FIELD], payload.data[FINGERPRINT_FIELD]);
        }
        offset = page.next_page_offset ?? undefined;
      } while (offset !== undefined);
      return found;
    });
  }

  upsert(points: readonly VectorPoint[]): Promise<void> {
    return this.ask(async () => {
      for (let start = 0; start < points.length; start += POINTS_PER_REQUEST) {
        await this.requests.ask('PUT', '/points?wait=true', done, {
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
      await this.requests.ask('POST', '/points/delete?wait=true', done, {
        points: ids.map(pointId),
      });
    });
  }

  search(
    vectors: readonly Float32Array[],
    limit: number,
    filter: VectorFilter,
  ): Promise<readonly (readonly VectorHit[])[]> {
    return this.ask(async () => {
      const answers = await this.requests.ask('POST', '/points/query/batch', searchAnswers, {
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
    const { config, payload_schema } = await this.requests.ask('GET', '', collectionInfo);
    const size = z.object({ size: z.number() }).safeParse(config.params.vectors);
    return {
      size: size.success ? size.data.size : undefined,
      indexed: Object.keys(payload_schema ?? {}),
    };
  }

  /** Refuses to drop a collection with points that another program wrote. */
  private async refuseForeignPoints(): Promise<void> {
    const { points } = await this.requests.ask('POST', '/points/scroll', pageOfPoints, {
      limit: 10,
      with_payload: true,
    });
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

function toQdrantFilter(filter: VectorFilter): object {
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
function toHits(points: readonly Scored[]): VectorHit[] {
  return points
    .flatMap(({ payload, score }) => {
      const ours = ourPayload.safeParse(payload);
      return ours.success && Number.isFinite(score) ? [{ id: ours.data[KEY_FIELD], score }] : [];
    })
    .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1));
}

function reasonOf(error: unknown): string {
  if (error instanceof QdrantRefused) return error.message;
  const isUnexpected = error instanceof z.ZodError || error instanceof SyntaxError;
  return isUnexpected ? 'it answers, but not as Qdrant does' : 'Qdrant does not answer';
}
