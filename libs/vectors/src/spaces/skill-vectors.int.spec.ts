import { type FakeQdrant, startFakeQdrant } from '../../../../test/fixtures/fake-qdrant.js';
import { Embedder } from '../embed/embedder.js';
import { ExactIndex } from '../indexes/exact-index.js';
import { FakeToolVectorStore } from './fake-tool-vector.store.js';
import { QdrantIndex } from '../indexes/qdrant-index.js';
import { SKILLS_COLLECTION, skillFilterFields } from './skill-payload.js';
import { type SkillItem, type SkillMember, SkillVectors } from './skill-vectors.js';
import type { VectorIndex } from '../indexes/vector-index.js';
import { normalise } from '../indexes/vector-math.js';

const unit = (...values: number[]): Float32Array =>
  normalise(Float32Array.from(values)) ?? new Float32Array(values.length);

/** Every text lies on the last axis. */
class LastAxisEmbedder extends Embedder {
  constructor(
    readonly modelId: string,
    private readonly dimensions: number,
  ) {
    super();
  }
  embed(texts: readonly string[]): Promise<Float32Array[]> {
    const axis = Array.from({ length: this.dimensions }, (_, i) =>
      i === this.dimensions - 1 ? 1 : 0,
    );
    return Promise.resolve(texts.map(() => unit(...axis)));
  }
}

const skill = (id: string, members: SkillMember[] = [], description = ''): SkillItem => ({
  text: `${id}. ${description}`,
  payload: { skill_id: id, name: id, description, tool_count: members.length },
  members,
});
const member = (toolId: number, confidence = 1): SkillMember => ({ toolId, confidence });

let qdrant: FakeQdrant;
beforeEach(async () => {
  qdrant = await startFakeQdrant();
});
afterEach(async () => {
  await qdrant.close();
  expect(qdrant.refused).toEqual([]);
});

const indexes: [string, () => VectorIndex][] = [
  ['in process', () => new ExactIndex()],
  [
    'on Qdrant',
    () =>
      new QdrantIndex({ url: qdrant.url, apiKey: undefined }, SKILLS_COLLECTION, skillFilterFields),
  ],
];

describe.each(indexes)('skills in an index %s', (_, create) => {
  let index: VectorIndex;
  let rows: FakeToolVectorStore;
  const skillsOf = (embedder: Embedder): SkillVectors => new SkillVectors(embedder, index, rows);
  const nearest = async (...values: number[]): Promise<[string, number][]> =>
    ((await index.search([unit(...values)], 10, {}))[0] ?? []).map(({ id, score }) => [
      id,
      Math.round(score * 100) / 100,
    ]);
  const tool = (toolId: number, vector: Float32Array, textHash = 'text') =>
    rows.save('model', [{ toolId, textHash, vector }]);

  beforeEach(async () => {
    index = create();
    rows = new FakeToolVectorStore();
    await tool(1, unit(1, 0, 0));
    await tool(2, unit(0, 1, 0));
  });

  it('have the mean vector of their tools by confidence, or the vector of their text', async () => {
    const skills = skillsOf(new LastAxisEmbedder('model', 3));
    await skills.converge([
      skill('first', [member(1)]),
      skill('both', [member(1, 1), member(2, 0.5)]),
      skill('none'),
    ]);
    expect(await nearest(1, 0, 0)).toEqual([
      ['first', 1],
      ['both', 0.89],
      ['none', 0],
    ]);
    expect((await nearest(0, 0, 1))[0]).toEqual(['none', 1]);
  });

  it('change when a tool is added, removed or changed', async () => {
    const skills = skillsOf(new LastAxisEmbedder('model', 3));
    await skills.converge([skill('one', [member(1), member(3)])]);
    expect(await nearest(1, 0, 0)).toEqual([['one', 1]]);
    await tool(3, unit(0, 1, 0));
    await skills.converge([skill('one', [member(1), member(3)])]);
    expect(await nearest(1, 0, 0)).toEqual([['one', 0.71]]);
    await tool(3, unit(1, 0, 0), 'another text');
    await skills.converge([skill('one', [member(1), member(3)])]);
    expect(await nearest(1, 0, 0)).toEqual([['one', 1]]);
    await skills.converge([skill('one')]);
    expect(await nearest(1, 0, 0)).toEqual([['one', 0]]);
  });

  it('are removed from the index when they are gone', async () => {
    const skills = skillsOf(new LastAxisEmbedder('model', 3));
    await skills.converge([skill('one', [member(1)]), skill('two')]);
    await skills.converge([skill('two')]);
    expect([...(await index.stored()).keys()]).toEqual(['two']);
    await skills.converge([]);
    expect((await index.stored()).size).toBe(0);
  });

  it('are not written again when nothing changed', async () => {
    const skills = skillsOf(new LastAxisEmbedder('model', 3));
    await skills.converge([skill('one', [member(1), member(2)])]);
    const before = [...(await index.stored())];
    index.upsert = () => Promise.reject(new Error('written again'));
    await skills.converge([skill('one', [member(2), member(1)])]);
    expect([...(await index.stored())]).toEqual(before);
  });

  it('are replaced when the model has another vector size', async () => {
    await skillsOf(new LastAxisEmbedder('model', 3)).converge([skill('one', [member(1)])]);
    await skillsOf(new LastAxisEmbedder('another', 2)).converge([skill('one', [member(1)])]);
    expect(await nearest(0, 1)).toEqual([['one', 1]]);
  });
});

describe(SkillVectors, () => {
  it('carry name, description and number of tools', async () => {
    const index = new QdrantIndex(
      { url: qdrant.url, apiKey: undefined },
      SKILLS_COLLECTION,
      skillFilterFields,
    );
    const skills = new SkillVectors(
      new LastAxisEmbedder('model', 3),
      index,
      new FakeToolVectorStore(),
    );
    await skills.converge([skill('files', [member(1)], 'Reads and writes')]);
    const [point] = [...(qdrant.collections.get('mcp_skills')?.points.values() ?? [])];
    expect(point?.payload).toMatchObject({
      skill_id: 'files',
      name: 'files',
      description: 'Reads and writes',
      tool_count: 1,
    });
  });

  it('are not embedded without an index', async () => {
    const embedder = new LastAxisEmbedder('model', 3);
    embedder.embed = () => Promise.reject(new Error('asked'));
    const skills = new SkillVectors(embedder, undefined, new FakeToolVectorStore());
    await skills.converge([skill('files')]);
    expect(skills.isKept).toBe(false);
  });
});
