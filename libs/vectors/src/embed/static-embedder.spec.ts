import { longestBlock } from '../../../../test/support/loop-delay.js';
import { StaticEmbedder } from './static-embedder.js';
import { StaticModel } from './static-model.js';

const model = StaticModel.load();

describe(StaticEmbedder, () => {
  it('returns a vector for each text in order, and none for a text without words', async () => {
    const texts = ['opens an issue', '\u0000', 'sends a letter'];
    const vectors = await new StaticEmbedder(model).embed(texts);
    expect(vectors).toEqual(texts.map((text) => model.embed(text)));
    expect(vectors[1]).toBeUndefined();
  });

  it('does not block the event loop on many texts of unknown words', async () => {
    const text = `${'qzxjvkwq'.repeat(12)} `.repeat(80);
    const { blockedMs } = await longestBlock(() =>
      new StaticEmbedder(model).embed(Array<string>(60).fill(text)),
    );
    expect(blockedMs).toBeLessThan(300);
  });
});
