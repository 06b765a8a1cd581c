import { choose } from './strategy.js';

const ranked = [
  { id: 1, score: 0.9 },
  { id: 2, score: 0.8 },
  { id: 3, score: 0.7 },
  { id: 4, score: 0.6 },
];
const skills = new Map([
  [1, ['files']],
  [2, ['finance']],
  [3, ['files', 'media']],
  [4, []],
]);
const skillsOf = (id: number): readonly string[] => skills.get(id) ?? [];
const ids = (choice: ReturnType<typeof choose>): number[] => choice.chosen.map(({ id }) => id);

describe(choose, () => {
  it('searches directly when no skill matches', () => {
    const choice = choose(ranked, 3, new Set(), skillsOf);
    expect(ids(choice)).toEqual([1, 2, 3]);
    expect(choice.strategyUsed).toBe('direct');
  });

  it('takes the tools of matched skills, and unclassified ones', () => {
    const choice = choose(ranked, 3, new Set(['files']), skillsOf);
    expect(ids(choice)).toEqual([1, 3, 4]);
    expect(choice.strategyUsed).toBe('hierarchical');
  });

  it('fills up with the best other tools, reports it, and keeps the order of scores', () => {
    const choice = choose(ranked, 3, new Set(['media']), skillsOf);
    expect(ids(choice)).toEqual([1, 3, 4]);
    expect(choice.strategyUsed).toBe('hierarchical+direct');
  });

  it('puts the better half of the hits aside for no skill', () => {
    const choice = choose(ranked, 2, new Set(['media']), skillsOf);
    expect(ids(choice)).toEqual([1, 3]);
    expect(choice.strategyUsed).toBe('hierarchical');
  });
});
