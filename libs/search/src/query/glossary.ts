const HAN_OR_KANA = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]+/gu;
const LATIN_WORD = /[\p{L}\p{M}]+/gu;
/** Of entries, in characters or words. */
const LONGEST_RUN = 8;
const LONGEST_PHRASE = 2;
/** Parts of a compound are at least this long. */
const MIN_PART = 4;
/** Longer words are data. */
const MAX_COMPOUND = 40;
/** Endings of this many letters may differ from those of the entry. */
const MAX_ENDING = 3;
const MIN_STEM = 4;

/** What a glossary says about a text. */
export interface Glossed {
  /** By word in the order of the text, without words that stand for nothing in English. */
  readonly english: readonly (readonly string[])[];
  /** Words of the text that the glossary has, as they are written there. */
  readonly known: ReadonlySet<string>;
}

/** Words and phrases of one language with their English words (libs/search/glossaries). */
export class Glossary {
  private readonly entries: ReadonlyMap<string, readonly string[]>;
  /** Of words without their ending, the first entry. */
  private readonly stems = new Map<string, readonly string[]>();

  constructor(
    readonly language: string,
    lines: string,
  ) {
    const entries = new Map<string, readonly string[]>();
    for (const line of lines.split('\n')) {
      const at = line.indexOf('\t');
      if (at < 0) continue;
      const word = line.slice(0, at);
      const english = line.slice(at + 1);
      entries.set(word, english === '' ? [] : english.split(' '));
    }
    this.entries = entries;
    for (const [word, english] of entries) {
      for (let cut = 1; cut <= MAX_ENDING && word.length - cut >= MIN_STEM; cut++) {
        const stem = word.slice(0, word.length - cut);
        if (english.length > 0 && !this.stems.has(stem)) this.stems.set(stem, english);
      }
    }
  }

  has(word: string): boolean {
    return this.entries.has(word);
  }

  /** Whether it has the word as another than the English one that is written like it. */
  hasAsOther(word: string): boolean {
    return this.entries.get(word)?.includes(word) === false;
  }

  /** By words; those of Chinese and Japanese are the longest entries. */
  gloss(text: string): Glossed {
    const plain = text.normalize('NFKC').toLowerCase();
    const english: (readonly string[])[] = [];
    const known = new Set<string>();
    const take = (word: string, found: readonly string[]): void => {
      known.add(word);
      if (found.length > 0) english.push(found);
    };
    const isUnspaced = this.language === 'zh' || this.language === 'ja';
    if (isUnspaced) for (const [run] of plain.matchAll(HAN_OR_KANA)) this.glossRun(run, take);
    else this.glossWords(plain.match(LATIN_WORD) ?? [], take);
    return { english, known };
  }

  private glossRun(run: string, take: (word: string, english: readonly string[]) => void): void {
    for (let start = 0; start < run.length;) {
      let end = Math.min(run.length, start + LONGEST_RUN);
      while (end > start && !this.entries.has(run.slice(start, end))) end--;
      const word = run.slice(start, end);
      if (word !== '') take(word, this.entries.get(word) ?? []);
      start = Math.max(end, start + 1);
    }
  }

  private glossWords(
    words: readonly string[],
    take: (word: string, english: readonly string[]) => void,
  ): void {
    for (let start = 0; start < words.length;) {
      let count = Math.min(LONGEST_PHRASE, words.length - start);
      while (count > 1 && !this.entries.has(words.slice(start, start + count).join(' '))) count--;
      const taken = words.slice(start, start + count);
      const phrase = taken.join(' ');
      const found = this.entries.get(phrase) ?? this.inflected(phrase) ?? this.compound(phrase);
      if (found) for (const word of taken) take(word, word === taken[0] ? found : []);
      start += count;
    }
  }

  /** The entry of another form of the word. */
  private inflected(word: string): readonly string[] | undefined {
    for (let cut = 0; cut <= MAX_ENDING && word.length - cut >= MIN_STEM; cut++) {
      const stem = word.slice(0, word.length - cut);
      const found = cut > 0 ? this.entries.get(stem) : undefined;
      if (found && found.length > 0) return found;
      const other = this.stems.get(stem);
      if (other && stem.length > MIN_STEM) return other;
    }
    return undefined;
  }

  /** Of a German compound, both parts. */
  private compound(word: string): readonly string[] | undefined {
    if (this.language !== 'de' || word.length > MAX_COMPOUND) return undefined;
    for (let at = word.length - MIN_PART; at >= MIN_PART; at--) {
      const tail = this.entries.get(word.slice(at));
      const head = word.slice(0, at);
      const first = this.entries.get(head) ?? this.entries.get(head.replace(/(s|n|en|es)$/, ''));
      if (tail && first && tail.length + first.length > 0) return [...first, ...tail];
    }
    return undefined;
  }
}
