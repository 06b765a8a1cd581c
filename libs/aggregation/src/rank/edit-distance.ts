/** A string, or a test's count of how often it is read. */
export interface Characters {
  readonly length: number;
  charCodeAt(index: number): number;
}

/**
 * True if at most `limit` insertions, deletions and replacements turn one text into the other. Takes limit² steps at
 * most (Ukkonen 1985): for each number of edits it keeps how far each diagonal of the comparison reaches.
 */
export function isWithinEdits(a: Characters, b: Characters, limit: number): boolean {
  const goal = b.length - a.length;
  if (Math.abs(goal) > limit) return false;
  // Characters of `a` that are matched, by diagonal (position in b − position in a); unreached ones are negative.
  let reached = new Int32Array(2 * limit + 3).fill(-2);
  let next = new Int32Array(2 * limit + 3).fill(-2);
  const middle = limit + 1;
  for (let edits = 0; edits <= limit; edits++) {
    for (let diagonal = -edits; diagonal <= edits; diagonal++) {
      const at = middle + diagonal;
      const start =
        edits === 0
          ? 0
          : Math.max((reached[at] ?? -2) + 1, reached[at - 1] ?? -2, (reached[at + 1] ?? -2) + 1);
      next[at] = matchedUntil(a, b, Math.min(start, a.length), diagonal);
    }
    if (next[middle + goal] === a.length) return true;
    [reached, next] = [next, reached];
  }
  return false;
}

function matchedUntil(a: Characters, b: Characters, start: number, diagonal: number): number {
  let at = start;
  while (at < a.length && at + diagonal < b.length && at + diagonal >= 0) {
    if (a.charCodeAt(at) !== b.charCodeAt(at + diagonal)) break;
    at++;
  }
  return at;
}
