import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { installedFolder } from '@app/platform';
import { type FakeEndpoint, startFakeEndpoint } from '../../../../test/fixtures/fake-endpoint.js';
import type { Embedder } from './embedder.js';
import { MinilmEmbedder } from './minilm-embedder.js';
import { RemoteEmbedder } from './remote-embedder.js';
import { StaticEmbedder } from './static-embedder.js';
import { StaticModel } from './static-model.js';
import { dot } from '../indexes/vector-math.js';

const model = StaticModel.load();
let endpoint: FakeEndpoint;

/** What an endpoint answers that embeds as the static model does. */
function embedded(body: unknown): object {
  const input = typeof body === 'object' && body !== null && 'input' in body ? body.input : [];
  const texts = Array.isArray(input) ? input.map(String) : [];
  return {
    data: texts.map((text, index) => ({
      index,
      embedding: [...(model.embed(text) ?? new Float32Array(model.dimensions))],
    })),
  };
}

const implementations: [string, () => Embedder][] = [
  ['static', () => new StaticEmbedder(model)],
  [
    'at an endpoint',
    () => new RemoteEmbedder({ url: `${endpoint.url}/v1`, apiKey: undefined, model: 'small' }),
  ],
];

/** After `npm run minilm:install`, as in CI. */
const minilm = installedFolder('libs/vectors/minilm', import.meta.url);
if (existsSync(join(minilm, 'node_modules'))) {
  implementations.push(['of MiniLM', () => new MinilmEmbedder(model)]);
}

describe.each(implementations)('an embedder %s', (_, create) => {
  let embedder: Embedder;
  beforeAll(async () => {
    endpoint = await startFakeEndpoint(({ body }) => embedded(body));
    embedder = create();
  });
  afterAll(async () => {
    await endpoint.close();
    if (embedder instanceof MinilmEmbedder) await embedder.onModuleDestroy();
  });

  const embed = async (...texts: string[]): Promise<(Float32Array | undefined)[]> => [
    ...(await embedder.embed(texts)),
  ];
  const similarity = (a: Float32Array | undefined, b: Float32Array | undefined): number =>
    a && b ? dot(a, b) : NaN;

  it('puts paraphrases nearer to each other than to other texts', async () => {
    const [mail, message, weather] = await embed(
      'send an email',
      'compose and deliver mail messages',
      'weather forecast for the weekend',
    );
    expect(similarity(mail, message)).toBeGreaterThan(similarity(mail, weather) + 0.2);
  });

  it('returns unit vectors of one size, in the order of the texts', async () => {
    const texts = ['send an email', 'x', 'weather '.repeat(2_000), 'weather forecast'];
    const vectors = await embed(...texts);
    expect(new Set(vectors.map((vector) => vector?.length)).size).toBe(1);
    for (const [i, vector] of vectors.entries()) {
      expect(similarity(vector, vector)).toBeCloseTo(1, 4);
      const [alone] = await embed(texts[i] ?? '');
      expect(similarity(vector, alone)).toBeCloseTo(1, 4);
    }
  });

  it('returns the same vector for a text, alone or in a batch', async () => {
    const [alone] = await embed('list the open issues');
    const [, among] = await embed('x', 'list the open issues', 'a much longer text '.repeat(20));
    expect(among).toEqual(alone);
  });

  it('has no vector for a text without a known word', async () => {
    expect(await embed('', 'ช่วย')).toEqual([undefined, undefined]);
  });
});
