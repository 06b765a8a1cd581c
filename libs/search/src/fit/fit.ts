/**
 * Logistic regression on the dev half of the real set, both kinds of queries weighted alike (bench/search/fit.mjs):
 * the cosine of the static model and the share of the query that the tool has.
 */
const OFFSET = -4.1;
const OF_COSINE = 9.4;
const OF_COVERAGE = 2.18;
/** A tool of a server that the query names is no stranger to it. */
const OF_NAMED_SERVER = 0.3;

/** If the best tool fits less, probably none does: of the queries that no tool serves 8 in 10, of others 1 in 20. */
export const NO_GOOD_FIT = 0.2;

export interface Fitting {
  readonly cosine: number;
  /** 0…1, by how rare the words are. */
  readonly coverage: number;
  /** The query has a word of the name of its server. */
  readonly isServerNamed: boolean;
}

/** How well a tool fits a query, 0…1, whatever the other tools are. */
export function fitOf({ cosine, coverage, isServerNamed }: Fitting): number {
  const fit = 1 / (1 + Math.exp(-(OFFSET + OF_COSINE * cosine + OF_COVERAGE * coverage)));
  return isServerNamed ? Math.max(fit, OF_NAMED_SERVER) : fit;
}
