import type { Sliced } from '../work/slices.js';

/** Sorted at once; sorting 100,000 would block the event loop. */
const CHUNK = 1_000;

/** The same as `toSorted`, in slices: sorts chunks and merges them. Equal ones keep their order. */
export function* sorting<T extends object>(
  list: readonly T[],
  compare: (a: T, b: T) => number,
): Sliced<readonly T[]> {
  let runs: T[][] = [];
  for (let start = 0; start < list.length; start += CHUNK) {
    yield;
    runs.push(list.slice(start, start + CHUNK).sort(compare));
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let i = 0; i < runs.length; i += 2) {
      merged.push(yield* merging(runs[i] ?? [], runs[i + 1] ?? [], compare));
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

function* merging<T extends object>(
  left: T[],
  right: readonly T[],
  compare: (a: T, b: T) => number,
): Sliced<T[]> {
  if (right.length === 0) return left;
  const merged: T[] = [];
  for (let [i, j] = [0, 0]; i < left.length || j < right.length;) {
    yield;
    const [a, b] = [left[i], right[j]];
    const takesLeft = a !== undefined && (b === undefined || compare(a, b) <= 0);
    const next = takesLeft ? a : b;
    if (takesLeft) i++;
    else j++;
    if (next) merged.push(next);
  }
  return merged;
}
