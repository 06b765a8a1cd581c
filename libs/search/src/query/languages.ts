import { installedFolder } from '@app/platform';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { isForeign, meaningOf } from './abbreviations.js';
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
  /** Whether a word is one of the language, whatever it is short for in English. */
  readonly isOwnWord: (word: string) => boolean;
}

/** Words of a query that may be in another language. */
interface Evidence {
  /** The number of English ones. */
  readonly english: number;
  /** Abbreviations that are no English words. */
  readonly short: readonly string[];
  readonly others: readonly string[];
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
    const unknown = [...words].filter((word) => !this.isEnglish(word));
    const short = unknown.filter((word) => meaningOf(word) !== undefined);
    const others = unknown.filter((word) => meaningOf(word) === undefined);
    if (others.every(isUsed)) return undefined;
    const english = words.size - unknown.length;
    return this.best(text, { english, short, others }, (word) => common.has(word));
  }

  /** The language that most words are of, if they are no fewer than the English ones. */
  private best(
    text: string,
    { english, short, others }: Evidence,
    isCommon: (word: string) => boolean,
  ): Translation | undefined {
    let best: (Translation & { readonly evidence: number }) | undefined;
    for (const language of LATIN) {
      const glossary = this.glossary(language);
      const own = others.filter((word) => glossary.has(word));
      // The vocabulary of the model has frequent words of other languages too ("der", "una").
      const alien = others.filter((word) => !glossary.has(word) && isCommon(word)).length;
      const isSure = own.some((word) => !isCommon(word));
      // Of a language in which it is another word, an abbreviation is no evidence of English.
      const abbreviations = short.filter((word) => !isOther(word, glossary)).length;
      const needed = english + abbreviations + alien + (isSure ? 0 : 1);
      if (own.length === 0 || own.length < needed || (best && best.evidence >= own.length))
        continue;
      best = { evidence: own.length, ...translationBy(glossary, text) };
    }
    return best;
  }

  private by(language: string, text: string): Translation | undefined {
    const translation = translationBy(this.glossary(language), text);
    return translation.known.size > 0 ? translation : undefined;
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

function translationBy(glossary: Glossary, text: string): Translation {
  const { language } = glossary;
  const isOwnWord = (word: string): boolean => isOther(word.toLowerCase(), glossary);
  return { language, ...glossary.gloss(text), isOwnWord };
}

function isOther(word: string, glossary: Glossary): boolean {
  return glossary.hasAsOther(word) || isForeign(word, glossary.language);
}
