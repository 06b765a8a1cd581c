import type { Passage } from '../read/passage.js';
import { answersSomething, diversified, scored } from './passage-scores.js';

const passage = (text: string, other: Partial<Passage> = {}): Passage => ({
  text,
  server: 'a',
  tool: 'search',
  position: 0,
  retrievedAt: 0,
  ...other,
});
const ranked = (query: string, passages: Passage[], weights: [string, number][] = []): string[] =>
  scored({ query, passages, embed: () => undefined, weights: new Map(weights) }).map(
    ({ text }) => text,
  );
const day = (n: number): number => n * 24 * 3_600_000;

describe(scored, () => {
  it('ranks texts with words of the query first, rare words before common ones', () => {
    const query = 'how does useReducer hold state';
    const passages = [
      passage('state of the art', { position: 3 }),
      passage('nothing of the kind', { position: 3 }),
      passage('useReducer is a hook', { position: 3 }),
      passage('useReducer holds state', { position: 3 }),
      passage('state and states', { position: 3 }),
    ];
    expect(ranked(query, passages).slice(0, 2)).toEqual([
      'useReducer holds state',
      'useReducer is a hook',
    ]);
    expect(ranked(query, passages).at(-1)).toBe('nothing of the kind');
  });

  it('keeps the order of a server among otherwise equal passages', () => {
    const passages = [2, 0, 1].map((position) => passage(`text ${'abc'[position]}`, { position }));
    expect(ranked('other words', passages)).toEqual(['text a', 'text b', 'text c']);
  });

  it('prefers newer texts, relative to the newest', () => {
    const passages = [
      passage('old words', { writtenAt: day(0) }),
      passage('new words', { writtenAt: day(2_000) }),
      passage('undated words'),
    ];
    expect(ranked('words', passages)).toEqual(['new words', 'undated words', 'old words']);
  });

  it('applies the weights of servers and keeps scores between 0 and 1', () => {
    const passages = [
      passage('same words', { server: 'a' }),
      passage('same words', { server: 'b' }),
    ];
    const input = { query: 'same words', passages, embed: () => undefined };
    const result = scored({ ...input, weights: new Map([['a', 0.1]]) });
    expect(result.map(({ server }) => server)).toEqual(['b', 'a']);
    for (const { score } of result) {
      expect(score).toBeGreaterThanOrEqual(0);
      expect(score).toBeLessThanOrEqual(1);
    }
  });

  it('orders equal passages deterministically', () => {
    const passages = ['c', 'a', 'b'].map((server) => passage('same', { server }));
    const order = scored({ query: 'x', passages, embed: () => undefined, weights: new Map() });
    expect(order.map(({ server }) => server)).toEqual(['a', 'b', 'c']);
  });
});

describe(diversified, () => {
  it('mixes servers whose passages are nearly as good', () => {
    const unique = (server: string, score: number) => ({
      ...passage(`${server} ${score}`, { server }),
      score,
      sources: [],
      duplicates: [],
    });
    const order = diversified([
      unique('a', 0.9),
      unique('a', 0.89),
      unique('a', 0.88),
      unique('b', 0.87),
      unique('c', 0.5),
    ]);
    expect(order.map(({ text }) => text)).toEqual(['a 0.9', 'a 0.89', 'b 0.87', 'a 0.88', 'c 0.5']);
    const scores = order.map(({ score }) => score);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
  });
});

describe(answersSomething, () => {
  const isAnswer = (text: string): boolean => answersSomething('What is a hook?')(passage(text));

  it('drops a passage that only repeats the query', () => {
    expect(isAnswer('Echo: what is a HOOK')).toBe(false);
    expect(isAnswer('  ')).toBe(false);
  });

  it('keeps an answer, even a short one or one that contains the query', () => {
    expect(isAnswer('A function')).toBe(true);
    expect(isAnswer('What is a hook? A function that calls other hooks.')).toBe(true);
  });
});
