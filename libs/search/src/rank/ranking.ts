/** A tool id with its score. */
export interface Scored {
  readonly id: number;
  readonly score: number;
}

/** Measured in bench/SEARCH.md. */
const LEXICAL_SHARE = 0.45;
const CLAUSE_SHARE = 0.8;
const AGREEMENT_SHARE = 0.3;
/** Lexical hits beyond this rank are no candidates. */
export const LEXICAL_DEPTH = 500;
/** The number of dense hits that can be relevant: a quarter of the tools, within limits. */
export function denseDepth(tools: number): number {
  return Math.min(Math.max(Math.ceil(tools / 4), 20), 300);
}

/** What a text found by words and by meaning, best first. */
export interface Hits {
  readonly lexical: readonly Scored[];
  /** Undefined without vectors. */
  readonly dense: readonly Scored[] | undefined;
  /** The number of dense hits that can be relevant. */
  readonly depth: number;
  /** What earlier uses add to dense scores, by tool id. */
  readonly lifts?: ReadonlyMap<number, number>;
}

/** The share of the fused score that a lexical and a dense score give. */
export interface Scale {
  lexical(score: number): number;
  dense(score: number): number;
}

/**
 * Convex combination of both scores, normalised to 0…1: the lexical one by its maximum, the dense one between the
 * first hit and the hit at `depth`. Without dense hits the lexical score is used alone.
 */
export function scaleOf({ lexical, dense, depth }: Hits): Scale {
  const share = dense?.length ? LEXICAL_SHARE : 1;
  const highest = lexical[0]?.score ?? 0;
  const top = dense?.[0]?.score ?? 0;
  const bottom = Math.min(dense?.[depth - 1]?.score ?? 0, top);
  return {
    lexical: (score) => (share * score) / highest,
    dense: (score) =>
      (1 - share) * (top > bottom ? Math.max(0, (score - bottom) / (top - bottom)) : 1),
  };
}

export function fuse(hits: Hits): Map<number, number> {
  const scale = scaleOf(hits);
  const fused = new Map<number, number>();
  for (const { id, score } of hits.lexical) fused.set(id, scale.lexical(score));
  for (const { id, score } of hits.dense ?? []) {
    fused.set(id, (fused.get(id) ?? 0) + scale.dense(score));
  }
  return fused;
}

/**
 * Combines the score of the whole query with that of the best clause: the higher one counts, raised slightly when
 * both agree. Scores stay in 0…1; without clauses nothing changes.
 */
export function withClauses(
  whole: ReadonlyMap<number, number>,
  clauses: readonly ReadonlyMap<number, number>[],
): ReadonlyMap<number, number> {
  if (clauses.length === 0) return whole;
  const bestClause = new Map<number, number>();
  for (const clause of clauses) {
    for (const [id, score] of clause) {
      bestClause.set(id, Math.max(bestClause.get(id) ?? 0, score));
    }
  }
  const combined = new Map<number, number>();
  for (const [id, ofWhole] of whole) combined.set(id, together(ofWhole, bestClause.get(id) ?? 0));
  for (const [id, ofClause] of bestClause) {
    if (!whole.has(id)) combined.set(id, together(0, ofClause));
  }
  return combined;
}

function together(ofWhole: number, ofClause: number): number {
  const best = Math.max(ofWhole, CLAUSE_SHARE * ofClause);
  const agreed = (ofWhole + ofClause) / 2;
  return (1 - AGREEMENT_SHARE) * best + AGREEMENT_SHARE * agreed;
}

/** How much the score of the whole query and that of the best clause count in `withClauses`. */
export function clauseWeights(
  ofWhole: number,
  ofClause: number,
): { readonly whole: number; readonly clause: number } {
  const half = AGREEMENT_SHARE / 2;
  return ofWhole >= CLAUSE_SHARE * ofClause
    ? { whole: 1 - half, clause: half }
    : { whole: half, clause: (1 - AGREEMENT_SHARE) * CLAUSE_SHARE + half };
}

/** The highest score of a tool that the query does not name, if it names another. */
export const UNNAMED = 0.95;

/** Tools whose exact name is in the query come first. */
export function namedFirst(
  scores: ReadonlyMap<number, number>,
  named: ReadonlySet<number>,
): ReadonlyMap<number, number> {
  if (named.size === 0) return scores;
  const all = new Map([...scores].map(([id, score]) => [id, score * UNNAMED]));
  for (const id of named) all.set(id, 1);
  return all;
}

/** Best first, equal scores by name. Drops tools below the threshold and tools without a name, which were removed. */
export function rank(
  scores: ReadonlyMap<number, number>,
  threshold: number,
  nameOf: (id: number) => string | undefined,
): Scored[] {
  const named: (Scored & { readonly name: string })[] = [];
  for (const [id, score] of scores) {
    const name = score >= threshold ? nameOf(id) : undefined;
    if (name !== undefined) named.push({ id, name, score });
  }
  return named.sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1));
}
