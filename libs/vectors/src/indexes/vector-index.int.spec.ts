import { type FakeQdrant, startFakeQdrant } from '../../../../test/fixtures/fake-qdrant.js';
import { qdrantProblems } from '../../../../test/support/qdrant-contract.js';
import { normalise } from './vector-math.js';
import { ExactIndex } from './exact-index.js';
import { QdrantIndex } from './qdrant-index.js';
import { SKILLS_COLLECTION, skillFilterFields } from '../spaces/skill-payload.js';
import { toolFilterFields } from '../spaces/tool-payload.js';
import type { VectorIndex, VectorPoint } from './vector-index.js';
import { VectorIndexFailed } from '../vectors.errors.js';

const COLLECTION = 'mcp_unified_search';

const vector = (...values: number[]): Float32Array =>
  normalise(Float32Array.from(values)) ?? new Float32Array(values.length);

function point(id: string, values: number[], payload: VectorPoint['payload'] = {}): VectorPoint {
  return { id, vector: vector(...values), payload, fingerprint: `print of ${id}` };
}

let qdrant: FakeQdrant;
beforeEach(async () => {
  qdrant = await startFakeQdrant('the key');
});
afterEach(async () => {
  await qdrant.close();
  expect(qdrant.refused).toEqual([]);
});

/** A real Qdrant too, where one is running: QDRANT_URL=http://127.0.0.1:6333 npm test. */
const realQdrant = process.env['QDRANT_URL'];

const implementations: [string, () => VectorIndex][] = [
  ['in process', () => new ExactIndex()],
  ['on the Qdrant stand-in', () => qdrantAt(qdrant.url, 'the key')],
  ['of skills on the Qdrant stand-in', () => skillsAt(qdrant.url, 'the key')],
];
if (realQdrant) {
  const key = process.env['QDRANT_API_KEY'];
  implementations.push(['on Qdrant', () => qdrantAt(realQdrant, key)]);
  implementations.push(['of skills on Qdrant', () => skillsAt(realQdrant, key)]);
}

function qdrantAt(url: string, apiKey: string | undefined): QdrantIndex {
  return new QdrantIndex({ url, apiKey }, COLLECTION, toolFilterFields);
}

function skillsAt(url: string, apiKey: string | undefined): QdrantIndex {
  return new QdrantIndex({ url, apiKey }, SKILLS_COLLECTION, skillFilterFields);
}

describe.each(implementations)('a vector index %s', (_, create) => {
  let index: VectorIndex;
  beforeEach(async () => {
    index = create();
    await index.open(3);
    await index.remove([...(await index.stored()).keys()]);
  });

  const nearest = async (values: number[], limit = 10, filter = {}): Promise<string[]> =>
    ((await index.search([vector(...values)], limit, filter))[0] ?? []).map(({ id }) => id);

  it('returns the nearest points first, up to the limit', async () => {
    await index.upsert([point('1', [1, 0, 0]), point('2', [0, 1, 0]), point('3', [1, 1, 0])]);
    expect(await nearest([1, 0.1, 0])).toEqual(['1', '3', '2']);
    expect(await nearest([1, 0.1, 0], 2)).toEqual(['1', '3']);
  });

  it('orders by cosine, then by id', async () => {
    await index.upsert([point('2', [1, 0, 0]), point('1', [1, 0, 0]), point('3', [0, 1, 0])]);
    const [hits] = await index.search([vector(1, 0, 0)], 10, {});
    expect(hits?.map(({ id, score }) => [id, Math.round(score * 1e6) / 1e6])).toEqual([
      ['1', 1],
      ['2', 1],
      ['3', 0],
    ]);
  });

  it('answers several vectors at once, each with its own hits', async () => {
    await index.upsert([point('1', [1, 0, 0]), point('2', [0, 1, 0])]);
    const answers = await index.search([vector(0, 1, 0), vector(1, 0, 0)], 1, {});
    expect(answers.map((hits) => hits[0]?.id)).toEqual(['2', '1']);
  });

  it('applies filters by text, flag and list before the limit', async () => {
    await index.upsert([
      point('1', [1, 0, 0], { source_server_id: 'a', is_external: true, skill_ids: ['x', 'y'] }),
      point('2', [1, 0.1, 0], { source_server_id: 'b', is_external: true, skill_ids: ['y'] }),
      point('3', [1, 0.2, 0], { source_server_id: 'b', is_external: false, skill_ids: [] }),
    ]);
    expect(await nearest([1, 0, 0], 1, { source_server_id: ['b'] })).toEqual(['2']);
    expect(await nearest([1, 0, 0], 9, { source_server_id: ['a', 'b'] })).toEqual(['1', '2', '3']);
    expect(await nearest([1, 0, 0], 9, { is_external: [false] })).toEqual(['3']);
    expect(await nearest([1, 0, 0], 9, { skill_ids: ['x', 'z'] })).toEqual(['1']);
    expect(await nearest([1, 0, 0], 9, { source_server_id: ['b'], skill_ids: ['y'] })).toEqual([
      '2',
    ]);
    expect(await nearest([1, 0, 0], 9, { source_server_id: ['missing'] })).toEqual([]);
  });

  it('replaces a point with the same id and its payload', async () => {
    await index.upsert([point('1', [1, 0, 0], { source_server_id: 'a' })]);
    await index.upsert([
      { ...point('1', [0, 1, 0], { source_server_id: 'b' }), fingerprint: 'another' },
    ]);
    expect(await nearest([0, 1, 0], 9, { source_server_id: ['b'] })).toEqual(['1']);
    expect(await nearest([0, 1, 0], 9, { source_server_id: ['a'] })).toEqual([]);
    expect([...(await index.stored())]).toEqual([['1', 'another']]);
  });

  it('drops removed points and ignores unknown ids', async () => {
    await index.upsert([point('1', [1, 0, 0]), point('2', [0, 1, 0]), point('3', [0, 0, 1])]);
    await index.remove(['1', 'unknown']);
    await index.remove([]);
    expect(await nearest([1, 1, 1])).toEqual(['2', '3']);
    expect([...(await index.stored()).keys()].sort()).toEqual(['2', '3']);
  });

  it('starts empty for vectors of another size', async () => {
    await index.upsert([point('1', [1, 0, 0])]);
    await index.open(2);
    expect((await index.stored()).size).toBe(0);
    await index.upsert([point('1', [1, 0])]);
    expect(await nearest([1, 0])).toEqual(['1']);
    await index.open(3);
  });

  it('keeps its points when it is opened again', async () => {
    await index.upsert([point('1', [1, 0, 0])]);
    await index.open(3);
    expect(await nearest([1, 0, 0])).toEqual(['1']);
  });

  it('pages through many points', async () => {
    const many = Array.from({ length: 2_500 }, (_item, i) => point(String(i), [1, i, 0]));
    await index.upsert(many);
    expect((await index.stored()).size).toBe(2_500);
  });
});

describe(QdrantIndex, () => {
  it('sends only requests that the OpenAPI document of Qdrant describes', async () => {
    const index = qdrantAt(qdrant.url, 'the key');
    const payload = { source_server_id: 'a', is_external: true, skill_ids: ['x', 'y'] };
    await index.open(3);
    await index.open(3);
    await index.upsert(
      Array.from({ length: 1_001 }, (_item, i) => point(String(i), [1, i, 0], payload)),
    );
    await index.stored();
    await index.search([vector(1, 0, 0)], 3, {});
    await index.search([vector(1, 0, 0)], 3, {
      source_server_id: ['a', 'b'],
      is_external: [true, false],
      skill_ids: ['x'],
    });
    await index.remove(['1']);
    await index.open(2);
    const operations = new Set(
      qdrant.exchanges.map(({ method, path }) => `${method} ${path.replaceAll(COLLECTION, '…')}`),
    );
    expect([...operations].sort()).toEqual([
      'DELETE /collections/…',
      'GET /collections/…',
      'GET /collections/…/exists',
      'POST /collections/…/points/delete?wait=true',
      'POST /collections/…/points/query/batch',
      'POST /collections/…/points/scroll',
      'PUT /collections/…',
      'PUT /collections/…/index?wait=true',
      'PUT /collections/…/points?wait=true',
    ]);
    expect(qdrantProblems(qdrant.exchanges)).toEqual([]);
  });

  it.each([
    ['a field that it does not know', '/collections/c/points/scroll', { limit: 1, pages: 2 }],
    ['a value of another type', '/collections/c/points/scroll', { limit: '1' }],
    ['an operation that it does not have', '/collections/c/points/list', { limit: 1 }],
  ])('would be found sending %s', (_, path, body) => {
    const answer = { result: { points: [] }, status: 'ok', time: 0 };
    expect(qdrantProblems([{ method: 'POST', path, body, answer }])).not.toEqual([]);
  });

  it('names the problem without repeating the request', async () => {
    const index = qdrantAt(qdrant.url, 'a wrong key');
    await expect(index.open(3)).rejects.toThrow(VectorIndexFailed);
    await expect(index.open(3)).rejects.toThrow(/cannot be used: Qdrant answered HTTP 403$/);
    qdrant.down = true;
    await expect(qdrantAt(qdrant.url, 'the key').stored()).rejects.toThrow(
      'Qdrant answered HTTP 503',
    );
    await expect(qdrantAt('http://127.0.0.1:1', undefined).stored()).rejects.toThrow(
      'Qdrant does not answer',
    );
  });

  it('indexes every field of the payload that is filtered by, also in a collection of an earlier release', async () => {
    const indexed = (): unknown =>
      Object.fromEntries(qdrant.collections.get(COLLECTION)?.indexes ?? []);
    const expected = {
      original_name: 'keyword',
      source_server_id: 'keyword',
      source_server_name: 'keyword',
      is_external: 'bool',
      is_classified: 'bool',
      skill_ids: 'keyword',
    };
    await qdrantAt(qdrant.url, 'the key').open(3);
    expect(indexed()).toEqual(expected);
    const collection = qdrant.collections.get(COLLECTION);
    for (const field of ['original_name', 'is_classified']) collection?.indexes.delete(field);
    await qdrantAt(qdrant.url, 'the key').open(3);
    expect(indexed()).toEqual(expected);
    expect(qdrant.collections.get(COLLECTION)).toBe(collection);
  });

  it('never drops a collection that another program filled', async () => {
    const index = qdrantAt(qdrant.url, 'the key');
    await index.open(3);
    const collection = qdrant.collections.get(COLLECTION);
    const id = '00000000-0000-4000-8000-000000000000';
    collection?.points.set(id, { id, vector: [1, 0, 0], payload: { of: 'another program' } });
    await expect(index.open(2)).rejects.toThrow('that Switchboard did not write');
    expect(collection?.points.size).toBe(1);
  });
});
