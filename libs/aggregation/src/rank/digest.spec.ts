import { inSlices } from '@app/platform';
import { StaticModel } from '@app/vectors';
import { longestBlock } from '../../../../test/support/loop-delay.js';
import { digesting, digestOf } from './digest.js';
import type { Passage } from '../read/passage.js';

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
  it('gives the same result for the same answers in any order', () => {
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

  it('counts raw and unique passages and returns at most the requested number', () => {
    const { raw, unique, results } = digest(passages);
    expect(raw).toBe(200);
    expect(unique).toBe(40);
    expect(results).toHaveLength(30);
  });

  it('gives scores from 0 to 1 that fall with the rank', () => {
    const scores = digest(passages).results.map(({ score }) => score);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    expect(scores[0]).toBeLessThanOrEqual(1);
    expect(scores.at(-1)).toBeGreaterThanOrEqual(0);
  });

  it('finds a passage by meaning when no word matches', () => {
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

  it('ranks only the first passages of each server when there are too many', () => {
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

  it('does not block the event loop on worst-case passages', async () => {
    const hostile = Array.from({ length: 2_500 }, (_, i) => ({
      text: `${'boilerplate that all of them share, '.repeat(18)}${'qwxzvkjq'.repeat(11)} ${i} ${i * 7}`,
      server: `server-${i % 20}`,
      tool: 'search',
      position: Math.floor(i / 20),
      retrievedAt: 0,
    }));
    const query = Array.from({ length: 1_500 }, (_, i) => `word${i}`).join(' ');
    const input = { query, passages: hostile, embed: (text: string) => model.embed(text) };
    const { result, blockedMs } = await longestBlock(() =>
      inSlices(digesting({ ...input, weights: new Map() }, { maxResults: 100, maxTokens: 6_000 })),
    );
    expect(result.raw).toBe(2_500);
    expect(blockedMs).toBeLessThan(300);
  });

  it('returns an empty result for no passages', () => {
    expect(digest([])).toEqual({ results: [], raw: 0, unique: 0, ranked: [] });
  });
});
