import { installedFolder } from '@app/platform';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { meaningOf } from './abbreviations.js';
import { Glossary } from './glossary.js';
import type { Vocabulary } from './spelling.js';

const LATIN = ['de', 'es', 'fr', 'it', 'pt'] as const;
const KANA = /[\p{Script=Hiragana}\p{Script=Katakana}]/u;
const HAN_OR_KANA = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
const LATIN_WORD = /[\p{Script=Latin}\p{M}]+/gu;
/** Letters alone say nothing. */
const MIN_LETTERS = 2;

/** A query in another language than English. */
export interface Translation {
  readonly language: string;
  /** By word. */
  readonly english: readonly (readonly string[])[];
  /** Words of the query that were translated. */
  readonly known: ReadonlySet<string>;
}

/** Glossaries of seven languages, each read when a query needs it. */
export class Languages {
  private readonly folder: string;
  private readonly glossaries = new Map<string, Glossary>();
  private english: ReadonlySet<string> | undefined;

  constructor(folder: string = installedFolder('libs/search/glossaries', import.meta.url)) {
    this.folder = folder;
  }

  /** Undefined for English, and for languages without a glossary. */
  translate(text: string, { isUsed, others: common }: Vocabulary): Translation | undefined {
    if (HAN_OR_KANA.test(text)) return this.by(KANA.test(text) ? 'ja' : 'zh', text);
    const words = new Set(
      (text.normalize('NFKC').toLowerCase().match(LATIN_WORD) ?? []).filter(
        ({ length }) => length >= MIN_LETTERS,
      ),
    );
    const others = [...words].filter(
      (word) => !this.isEnglish(word) && meaningOf(word) === undefined,
    );
    if (others.every(isUsed)) return undefined;
    return this.best(text, words.size - others.length, others, (word) => common.has(word));
  }

  /** The language that most words are of, if they are no fewer than the English ones. */
  private best(
    text: string,
    english: number,
    others: readonly string[],
    isCommon: (word: string) => boolean,
  ): Translation | undefined {
    let best: (Translation & { readonly evidence: number }) | undefined;
    for (const language of LATIN) {
      const glossary = this.glossary(language);
      const own = others.filter((word) => glossary.has(word));
      // The vocabulary of the model has frequent words of other languages too ("der", "una").
      const alien = others.filter((word) => !glossary.has(word) && isCommon(word)).length;
      const isSure = own.some((word) => !isCommon(word));
      const needed = english + alien + (isSure ? 0 : 1);
      if (own.length === 0 || own.length < needed || (best && best.evidence >= own.length))
        continue;
      best = { language, evidence: own.length, ...glossary.gloss(text) };
    }
    return best;
  }

  private by(language: string, text: string): Translation | undefined {
    const { english, known } = this.glossary(language).gloss(text);
    return known.size > 0 ? { language, english, known } : undefined;
  }

  private isEnglish(word: string): boolean {
    this.english ??= new Set(readFileSync(join(this.folder, 'en.txt'), 'utf8').split('\n'));
    return this.english.has(word);
  }

  private glossary(language: string): Glossary {
    let glossary = this.glossaries.get(language);
    if (!glossary) {
      const lines = gunzipSync(readFileSync(join(this.folder, `${language}.tsv.gz`))).toString();
      this.glossaries.set(language, (glossary = new Glossary(language, lines)));
    }
    return glossary;
  }
}
