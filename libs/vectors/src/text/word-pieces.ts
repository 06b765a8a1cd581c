/** The BERT-uncased tokenizer: lower case, without accents, greedy longest match. */
export class WordPieces {
  private readonly ids: ReadonlyMap<string, number>;
  /** Of all pieces, in characters; limits the search to linear time. */
  private readonly longest: number;

  constructor(vocabulary: readonly string[]) {
    this.ids = new Map(vocabulary.map((piece, id) => [piece, id]));
    this.longest = vocabulary.reduce((most, { length }) => Math.max(most, length), 0);
  }

  /** Those that are words by themselves. */
  *words(): Generator<string> {
    for (const piece of this.ids.keys()) if (!piece.startsWith('##')) yield piece;
  }

  /** Ids of the pieces; words that cannot be built from the vocabulary are skipped. */
  encode(text: string): number[] {
    const ids: number[] = [];
    for (const word of words(text)) this.encodeWord(word, ids);
    return ids;
  }

  private encodeWord(word: string, ids: number[]): void {
    const before = ids.length;
    let start = 0;
    while (start < word.length) {
      let end = Math.min(word.length, start + this.longest);
      let id: number | undefined;
      for (; end > start && id === undefined; end--) {
        id = this.ids.get(start === 0 ? word.slice(0, end) : `##${word.slice(start, end)}`);
      }
      if (id === undefined) {
        ids.length = before;
        return;
      }
      ids.push(id);
      start = end + 1;
    }
  }
}

/** Longer words are data (base64, hashes), not language. */
const MAX_WORD_LENGTH = 100;

const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}\p{M}]+|[^\s\p{L}\p{N}\p{M}\p{C}]/gu;

function words(text: string): string[] {
  const plain = text
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .toLowerCase();
  return (plain.match(WORD) ?? []).filter((word) => word.length <= MAX_WORD_LENGTH);
}
