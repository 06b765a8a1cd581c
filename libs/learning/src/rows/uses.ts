/** For which queries a tool was used: how often, and the mean of the vectors of these queries (unit vectors). */
export interface Uses {
  /** Falls with time. */
  readonly count: number;
  readonly mean: Float32Array;
}

/** More uses by one caller move the mean, but count no more: a caller alone decides little for the others. */
export const MAX_OF_CALLER = 5;
/** Queries are alike in how they ask, whatever they ask for: so much nearer says nothing. */
const MARGIN = 0.05;
const HALF_LIFE_DAYS = 60;
const DAY_MS = 86_400_000;
/** Uses by which a tool is trusted half as much as its own text. */
const HALF_TRUST = 2;

/** What is left of uses. By whole days, so that every replica gets the same result all day. */
export function faded({ count, mean }: Uses, usedAt: Date, now: Date): Uses {
  const days = Math.max(0, dayOf(now) - dayOf(usedAt));
  return { count: count * 0.5 ** (days / HALF_LIFE_DAYS), mean };
}

/** Adds uses of one caller, later ones to earlier ones. */
export function added(before: Uses | undefined, more: Uses): Uses {
  const sum = before ? together([before, more]) : more;
  return { count: Math.min(sum.count, MAX_OF_CALLER), mean: sum.mean };
}

/** The uses of several callers; the list must not be empty. */
export function together(all: readonly Uses[]): Uses {
  const mean = new Float32Array(all[0]?.mean.length ?? 0);
  let count = 0;
  for (const uses of all) {
    count += uses.count;
    for (let i = 0; i < mean.length; i++) {
      mean[i] = (mean[i] ?? 0) + uses.count * (uses.mean[i] ?? 0);
    }
  }
  for (let i = 0; i < mean.length; i++) mean[i] = count > 0 ? (mean[i] ?? 0) / count : 0;
  return { count, mean };
}

/** How far uses are trusted, 0…1: a third after one, 0.7 after five. */
export function trustIn(count: number): number {
  return count / (count + HALF_TRUST);
}

/**
 * By how much uses bring a tool nearer to a query: `own` is the cosine of the query with the text of the tool, `used` that
 * with the mean of its uses. A tool is never taken farther away, and never nearer than to the queries it was used for.
 */
export function liftOf(own: number, used: number, trust: number): number {
  return trust * Math.max(0, used - own - MARGIN);
}

function dayOf(time: Date): number {
  return Math.floor(time.getTime() / DAY_MS);
}
