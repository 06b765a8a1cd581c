import { StaticModel } from '@app/vectors';
import { digestOf } from './digest.js';
import type { Passage } from './passage.js';

const model = StaticModel.load();
const topics = ['hooks', 'state', 'effects', 'context', 'reducers', 'refs', 'portals', 'suspense'];
/** Ten servers that partly say the same. */
const passages: Passage[] = Array.from({ length: 200 }, (_, i) => ({
  text: `On ${topics[i % 8]} in React there is this to say, as part ${i % 40}: ${topics[(i * 3) % 8]} and ${topics[(i * 5) % 8]} belong together.`,
  server: `server-${i % 10}`,
  tool: 'search',
  position: Math.floor(i / 10),
  retrievedAt: 0,
}));
const digest = (of: readonly Passage[]) =>
  digestOf(
    {
      query: 'How do React hooks keep state?',
      passages: of,
      embed: (text) => model.embed(text),
      weights: new Map([['server-3', 2]]),
    },
    { maxResults: 30, maxTokens: 6_000 },
  );

describe(digestOf, () => {
  it('is the same for the same answers, in whatever order they arrive', () => {
    const first = JSON.stringify(digest(passages));
    let seed = 1;
    for (let run = 0; run < 100; run++) {
      const shuffled = passages
        .map((passage) => ({ passage, key: (seed = (seed * 48_271) % 2_147_483_647) }))
        .sort((a, b) => a.key - b.key)
        .map(({ passage }) => passage);
      expect(JSON.stringify(digest(shuffled))).toBe(first);
    }
  });

  it('counts what it was given, what is left of it, and gives no more than asked for', () => {
    const { raw, unique, results } = digest(passages);
    expect(raw).toBe(200);
    expect(unique).toBe(40);
    expect(results).toHaveLength(30);
  });

  it('has scores from 0 to 1 that fall with the rank', () => {
    const scores = digest(passages).results.map(({ score }) => score);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    expect(scores[0]).toBeLessThanOrEqual(1);
    expect(scores.at(-1)).toBeGreaterThanOrEqual(0);
  });

  it('finds what is meant where no word is the same', () => {
    const texts = [
      'Feline animals sleep for most of the day',
      'Interest rates were raised by the bank',
    ];
    const [best] = digestOf(
      {
        query: 'why are cats always tired',
        passages: texts.map((text, position) => ({
          text,
          server: `server-${1 - position}`,
          tool: 'search',
          position: 0,
          retrievedAt: 0,
        })),
        embed: (text) => model.embed(text),
        weights: new Map(),
      },
      { maxResults: 10, maxTokens: 1_000 },
    ).results;
    expect(best?.text).toBe(texts[0]);
  });

  it('ranks what servers gave first when there is too much', () => {
    const many = Array.from({ length: 3_000 }, (_, i) => ({
      text: `A hook of React, number ${i}`,
      server: `server-${i % 3}`,
      tool: 'search',
      position: Math.floor(i / 3),
      retrievedAt: 0,
    }));
    const { raw, unique, results } = digest(many);
    expect([raw, unique]).toEqual([3_000, 2_000]);
    for (const { position } of results) expect(position).toBeLessThan(667);
  });

  it('is empty for no passages', () => {
    expect(digest([])).toEqual({ results: [], raw: 0, unique: 0 });
  });
});
