import { clauseWeights, fuse, type Hits, scaleOf, type Scored, UNNAMED } from '../rank/ranking.js';

/** What the score of a tool is made of; the shares together are the score. */
export interface HitShares {
  readonly lexical: number;
  readonly dense: number;
  /** Of its meaning, what it got because it was used after queries like this one. */
  readonly learnt: number;
  /** What it lacked to the highest score, and got because the query names it. */
  readonly name: number;
  /** Position of the clause that fits best; null if the query has one intent, or if no clause found the tool. */
  readonly clause: number | null;
  /** BM25F score and cosine for the whole query; null where the tool was not found. */
  readonly bm25: number | null;
  readonly cosine: number | null;
  /** Positions, from 1, among all that was found by words and by meaning. */
  readonly lexicalRank: number | null;
  readonly denseRank: number | null;
}

/** The hits of the whole query, and of each of its clauses. */
export interface QueryHits {
  readonly whole: Hits;
  readonly clauses: readonly Hits[];
  /** Tools whose exact name is in the query. */
  readonly named: ReadonlySet<number>;
}

/** The shares of these tools, as `fuse` and `withClauses` combine them. */
export function sharesOf(
  { whole, clauses, named }: QueryHits,
  ids: readonly number[],
): ReadonlyMap<number, HitShares> {
  const parts = [whole, ...clauses].map(partsOf);
  return new Map(
    ids.map((id) => {
      const [ofWhole = NOTHING, ...ofClauses] = parts.map((part) => part.get(id) ?? NOTHING);
      const best = bestOf(ofClauses);
      const ofClause = ofClauses[best] ?? NOTHING;
      const weights =
        clauses.length === 0 ? ONLY_WHOLE : clauseWeights(sum(ofWhole), sum(ofClause));
      const scale = named.size > 0 && !named.has(id) ? UNNAMED : 1;
      const lexical = scale * (weights.whole * ofWhole.lexical + weights.clause * ofClause.lexical);
      const dense = scale * (weights.whole * ofWhole.dense + weights.clause * ofClause.dense);
      const learnt = scale * (weights.whole * ofWhole.learnt + weights.clause * ofClause.learnt);
      return [
        id,
        {
          lexical,
          dense,
          learnt,
          name: named.has(id) ? Math.max(0, 1 - lexical - dense - learnt) : 0,
          clause: sum(ofClause) > 0 ? best : null,
          bm25: whole.lexical.find((hit) => hit.id === id)?.score ?? null,
          cosine: cosineOf(whole, id),
          lexicalRank: rankIn(whole.lexical, id),
          denseRank: rankIn(whole.dense ?? [], id),
        },
      ];
    }),
  );
}

/** Scores of tools that were not searched, on the scale of those that were: 1 is as good as the best of these. */
export function fusedLike(searched: Hits, others: Hits): Map<number, number> {
  const scale = scaleOf(searched.lexical.length > 0 ? searched : others);
  const fused = new Map<number, number>();
  for (const { id, score } of others.lexical) fused.set(id, scale.lexical(score));
  if (searched.dense?.length) {
    for (const { id, score } of others.dense ?? []) {
      fused.set(id, (fused.get(id) ?? 0) + scale.dense(score));
    }
  } else if (searched.lexical.length === 0) {
    return fuse(others);
  }
  for (const [id, score] of fused) fused.set(id, Math.min(1, score));
  return fused;
}

interface Parts {
  readonly lexical: number;
  readonly dense: number;
  readonly learnt: number;
}

const NOTHING: Parts = { lexical: 0, dense: 0, learnt: 0 };
const ONLY_WHOLE = { whole: 1, clause: 0 } as const;

function partsOf(hits: Hits): ReadonlyMap<number, Parts> {
  const scale = scaleOf(hits);
  const parts = new Map<number, Parts>();
  for (const { id, score } of hits.lexical)
    parts.set(id, { ...NOTHING, lexical: scale.lexical(score) });
  for (const { id, score } of hits.dense ?? []) {
    const dense = scale.dense(score - (hits.lifts?.get(id) ?? 0));
    const lexical = parts.get(id)?.lexical ?? 0;
    parts.set(id, { lexical, dense, learnt: scale.dense(score) - dense });
  }
  return parts;
}

function bestOf(parts: readonly Parts[]): number {
  return parts.reduce((best, part, i) => (sum(part) > sum(parts[best] ?? NOTHING) ? i : best), 0);
}

function sum({ lexical, dense, learnt }: Parts): number {
  return lexical + dense + learnt;
}

/** Without what was learnt. */
function cosineOf({ dense, lifts }: Hits, id: number): number | null {
  const hit = dense?.find((one) => one.id === id);
  return hit ? hit.score - (lifts?.get(id) ?? 0) : null;
}

function rankIn(hits: readonly Scored[], id: number): number | null {
  const at = hits.findIndex((hit) => hit.id === id);
  return at < 0 ? null : at + 1;
}
