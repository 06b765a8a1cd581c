import fc from 'fast-check';
import { fuse, type Hits, type Scored, withClauses } from '../rank/ranking.js';
import { fusedLike, sharesOf } from './hit-shares.js';

const best = (hits: readonly Scored[]): Scored[] => hits.toSorted((a, b) => b.score - a.score);
const hitsOf = (lexical: readonly Scored[], dense: readonly Scored[] | undefined): Hits => ({
  lexical: best(lexical),
  dense: dense && best(dense),
  depth: 20,
});

const scored = fc.uniqueArray(
  fc.record({
    id: fc.integer({ min: 1, max: 6 }),
    score: fc.double({ min: 0.01, max: 20, noNaN: true }),
  }),
  { selector: ({ id }) => id, maxLength: 6 },
);
const someHits = fc
  .tuple(scored, fc.option(scored, { nil: undefined }))
  .map(([lexical, dense]) => hitsOf(lexical, dense));

describe(sharesOf, () => {
  it('adds up to the score of the ranking, with and without clauses', () => {
    fc.assert(
      fc.property(someHits, fc.array(someHits, { maxLength: 3 }), (whole, clauses) => {
        const scores = withClauses(fuse(whole), clauses.map(fuse));
        const shares = sharesOf({ whole, clauses, named: new Set() }, [...scores.keys()]);
        for (const [id, score] of scores) {
          const share = shares.get(id);
          expect((share?.lexical ?? 0) + (share?.dense ?? 0)).toBeCloseTo(score, 10);
        }
      }),
    );
  });

  it('tells what the text of a tool gives from what its uses add', () => {
    const dense = [
      { id: 1, score: 0.8 },
      { id: 2, score: 0.4 },
    ];
    const whole = { ...hitsOf([], dense), lifts: new Map([[1, 0.6]]) };
    const share = sharesOf({ whole, clauses: [], named: new Set() }, [1, 2]);
    const [first, second] = [share.get(1), share.get(2)];
    expect(first?.learnt).toBeGreaterThan(0);
    expect((first?.dense ?? 0) + (first?.learnt ?? 0)).toBeCloseTo(fuse(whole).get(1) ?? 0);
    expect(first?.cosine).toBeCloseTo(0.2);
    expect(second).toMatchObject({ learnt: 0, cosine: 0.4 });
  });

  it('names the clause that fits best, the raw scores and the positions', () => {
    const whole = hitsOf(
      [{ id: 1, score: 4 }],
      [
        { id: 2, score: 0.9 },
        { id: 1, score: 0.5 },
      ],
    );
    const clauses = [hitsOf([], []), hitsOf([{ id: 1, score: 3 }], [])];
    expect(sharesOf({ whole, clauses, named: new Set() }, [1]).get(1)).toMatchObject({
      clause: 1,
      bm25: 4,
      cosine: 0.5,
      lexicalRank: 1,
      denseRank: 2,
    });
  });
});

describe(fusedLike, () => {
  it('gives a tool as good as the best of those that were searched the same score', () => {
    const searched = hitsOf(
      [{ id: 1, score: 4 }],
      [
        { id: 1, score: 0.9 },
        { id: 2, score: 0.1 },
      ],
    );
    const others = hitsOf([{ id: 7, score: 4 }], [{ id: 7, score: 0.9 }]);
    expect(fusedLike(searched, others).get(7)).toBeCloseTo(fuse(searched).get(1) ?? 0);
  });

  it('stays within 0…1 for a tool that is better than all that were searched', () => {
    const searched = hitsOf([{ id: 1, score: 1 }], [{ id: 1, score: 0.2 }]);
    expect(fusedLike(searched, hitsOf([{ id: 7, score: 9 }], [{ id: 7, score: 0.9 }])).get(7)).toBe(
      1,
    );
  });

  it('compares tools with each other when nothing was found among those that were searched', () => {
    const fused = fusedLike(hitsOf([], []), hitsOf([{ id: 7, score: 9 }], [{ id: 8, score: 0.9 }]));
    expect([...fused.keys()]).toEqual([7, 8]);
  });
});
