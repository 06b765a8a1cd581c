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

const BLOCK = 32;
/** By character code: the rows of the current block that have this character, one bit each. */
const rowsWith = new Int32Array(0x1_0000);

/**
 * True if at most `limit` insertions, deletions and replacements turn one text into the other: for many edits. Compares
 * 32 rows at once (Myers 1999, Hyyrö 2003), only as far from the diagonal as `limit` edits lead, and stops when these
 * are used up. Cells outside are taken for one more than their neighbour, which is their highest possible value.
 */
export function isWithinManyEdits(a: string, b: string, limit: number): boolean {
  const goal = b.length - a.length;
  if (Math.abs(goal) > limit) return false;
  if (a.length === 0 || b.length === 0) return true;
  // A detour to a diagonal (position in b − position in a) has to lead back to that of the ends.
  const [behind, ahead] = [(limit - goal) >> 1, (limit + goal) >> 1];
  /** Of the last row of the block above: the difference of each column to the one before. */
  const steps = new Int8Array(b.length).fill(1);
  let band: Band = { from: 0, edits: 0, lowest: 0 };
  for (let row = 0; row < a.length && band.lowest <= limit; row += BLOCK) {
    const rows = a.slice(row, row + BLOCK);
    markRows(rows);
    const to = Math.min(b.length, row + rows.length + ahead);
    const nextFrom = Math.max(0, row + rows.length - behind);
    band = compareBlock(rows.length, b, band, to, nextFrom, steps);
    for (let i = 0; i < rows.length; i++) rowsWith[rows.charCodeAt(i)] = 0;
  }
  return band.lowest <= limit && band.edits + stepsFrom(band.from, steps) <= limit;
}

/** Where the next block begins in `b`, the edits up to there, and the fewest edits in any column of this block. */
interface Band {
  readonly from: number;
  readonly edits: number;
  readonly lowest: number;
}

function markRows(rows: string): void {
  for (let i = 0; i < rows.length; i++) {
    const code = rows.charCodeAt(i);
    rowsWith[code] = (rowsWith[code] ?? 0) | (1 << i);
  }
}

function compareBlock(
  height: number,
  b: string,
  above: Band,
  to: number,
  nextFrom: number,
  steps: Int8Array,
): Band {
  const last = 1 << (height - 1);
  let plus = -1;
  let minus = 0;
  let edits = above.edits + height;
  let atNext = edits;
  let lowest = edits;
  for (let column = above.from; column < to; column++) {
    const step = steps[column] ?? 1;
    const equal = rowsWith[b.charCodeAt(column)] ?? 0;
    const reached = equal | minus;
    const matched = equal | (step < 0 ? 1 : 0);
    const run = (((matched & plus) + plus) ^ plus) | matched;
    let up = minus | ~(run | plus);
    let down = plus & run;
    const out = (up & last ? 1 : 0) - (down & last ? 1 : 0);
    up = (up << 1) | (step > 0 ? 1 : 0);
    down = (down << 1) | (step < 0 ? 1 : 0);
    plus = down | ~(reached | up);
    minus = up & reached;
    steps[column] = out;
    edits += out;
    if (edits < lowest) lowest = edits;
    if (column === nextFrom - 1) atNext = edits;
  }
  return { from: Math.max(nextFrom, above.from), edits: atNext, lowest };
}

function stepsFrom(from: number, steps: Int8Array): number {
  let sum = 0;
  for (let column = from; column < steps.length; column++) sum += steps[column] ?? 0;
  return sum;
}
