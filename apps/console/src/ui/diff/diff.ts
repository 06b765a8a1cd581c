export interface DiffPart<T> {
  readonly kind: 'same' | 'removed' | 'added';
  readonly items: readonly T[];
}

/** More cells than this take too long on the main thread: then everything counts as replaced. */
const MAX_CELLS = 1_000_000;

/** What to remove from `before` and add to make it `after`, with the longest common part kept. */
export function diff<T>(before: readonly T[], after: readonly T[]): DiffPart<T>[] {
  const start = commonStart(before, after);
  const end = commonEnd(before.slice(start), after.slice(start));
  const parts: DiffPart<T>[] = [
    { kind: 'same', items: before.slice(0, start) },
    ...middle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    { kind: 'same', items: before.slice(before.length - end) },
  ];
  return parts.filter(({ items }) => items.length > 0);
}

function commonStart<T>(a: readonly T[], b: readonly T[]): number {
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at += 1;
  return at;
}

function commonEnd<T>(a: readonly T[], b: readonly T[]): number {
  let count = 0;
  while (count < a.length && count < b.length && a.at(-1 - count) === b.at(-1 - count)) count += 1;
  return count;
}

function middle<T>(a: readonly T[], b: readonly T[]): DiffPart<T>[] {
  if (a.length * b.length > MAX_CELLS) {
    return [
      { kind: 'removed', items: a },
      { kind: 'added', items: b },
    ];
  }
  const common = lengths(a, b);
  const width = b.length + 1;
  const parts: { kind: DiffPart<T>['kind']; items: T[] }[] = [];
  const put = (kind: DiffPart<T>['kind'], item: T): void => {
    const last = parts.at(-1);
    if (last?.kind === kind) last.items.push(item);
    else parts.push({ kind, items: [item] });
  };
  let i = 0;
  let j = 0;
  for (;;) {
    const [left, right] = [a[i], b[j]];
    if (i < a.length && j < b.length && left === right) {
      put('same', left as T);
      i += 1;
      j += 1;
    } else if (
      i < a.length &&
      (j >= b.length || (common[(i + 1) * width + j] ?? 0) >= (common[i * width + j + 1] ?? 0))
    ) {
      put('removed', left as T);
      i += 1;
    } else if (j < b.length) {
      put('added', right as T);
      j += 1;
    } else return parts;
  }
}

/** Length of the longest common subsequence of the rests from (i, j). */
function lengths<T>(a: readonly T[], b: readonly T[]): Uint32Array {
  const width = b.length + 1;
  const table = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      table[i * width + j] =
        a[i] === b[j]
          ? (table[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(table[(i + 1) * width + j] ?? 0, table[i * width + j + 1] ?? 0);
    }
  }
  return table;
}

/** Words with the space that follows them. */
export function wordsOf(text: string): string[] {
  return text.match(/\s*[\p{L}\p{N}_]+|\s*[^\s\p{L}\p{N}_]|\s+/gu) ?? [];
}

/** Words of the text; punctuation and space do not count. */
export function wordCount(
  parts: readonly DiffPart<string>[],
  kind: DiffPart<string>['kind'],
): number {
  return parts
    .filter((part) => part.kind === kind)
    .flatMap(({ items }) => items)
    .filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added' | 'fold';
  /** In the newer text, for removed lines in the older. */
  readonly number: number;
  /** The line; of a fold nothing. */
  readonly text: string;
  /** What differs from the line that it replaces or is replaced by. */
  readonly words: readonly DiffPart<string>[] | undefined;
  /** Lines behind a fold. */
  readonly folded: number;
}

const CONTEXT = 2;

/** Lines that differ with a few around them; longer runs of the same lines are folded. */
export function diffLines(before: string, after: string): DiffLine[] {
  const lines: DiffLine[] = [];
  let [oldNumber, newNumber] = [1, 1];
  const parts = diff(before.split('\n'), after.split('\n'));
  for (const [at, { kind, items }] of parts.entries()) {
    if (kind === 'same') {
      lines.push(...folded(items, newNumber, at === 0, at === parts.length - 1));
      oldNumber += items.length;
      newNumber += items.length;
      continue;
    }
    const other = kind === 'removed' ? parts[at + 1] : parts[at - 1];
    const partner = other && other.kind !== 'same' && other.kind !== kind ? other.items : [];
    for (const [row, text] of items.entries()) {
      const twin = partner[row];
      const words =
        twin === undefined
          ? undefined
          : kind === 'added'
            ? diff(wordsOf(twin), wordsOf(text))
            : diff(wordsOf(text), wordsOf(twin));
      const number = kind === 'removed' ? oldNumber++ : newNumber++;
      lines.push({ kind, number, text, words, folded: 0 });
    }
  }
  return lines;
}

function folded(
  items: readonly string[],
  first: number,
  isFirst: boolean,
  isLast: boolean,
): DiffLine[] {
  const line = (text: string, at: number): DiffLine => ({
    kind: 'same',
    number: first + at,
    text,
    words: undefined,
    folded: 0,
  });
  const [head, tail] = [isFirst ? 0 : CONTEXT, isLast ? 0 : CONTEXT];
  const hidden = items.length - head - tail;
  if (hidden <= 1) return items.map(line);
  return [
    ...items.slice(0, head).map(line),
    { kind: 'fold', number: 0, text: '', words: undefined, folded: hidden },
    ...items.slice(items.length - tail).map((text, at) => line(text, items.length - tail + at)),
  ];
}
