import { atOnce } from '@app/platform';
import { clausesOf } from '../rank/clauses.js';
import { WordList } from '../words/word-list.js';
import { Languages } from './languages.js';
import { Corrections, type Vocabulary } from './spelling.js';
import { understanding } from './understand.js';

const languages = new Languages();

function vocabulary(used: Record<string, number>, others: readonly string[] = []): Vocabulary {
  const words = new WordList();
  for (const word of Object.keys(used)) words.add(word);
  const common = new WordList();
  for (const word of others) common.add(word);
  return {
    isUsed: (word) => word in used,
    frequencyOf: (word) => used[word] ?? 0,
    nearest: (word, maxEdits) => words.nearest(word, maxEdits),
    others: common,
  };
}

const tools = vocabulary(
  {
    search: 9,
    web: 5,
    kubernetes: 3,
    calendar: 2,
    folder: 2,
    create: 9,
    chart: 4,
    pie: 1,
    file: 8,
  },
  ['film', 'think', 'search', 'files', 'the', 'calender'],
);

const read = (query: string) => atOnce(understanding(query, tools, languages));

describe(understanding, () => {
  it('leaves a query of known words as it is', () => {
    expect(read('search the web')).toEqual({
      text: 'search the web',
      words: 'search the web',
      meaning: 'search the web',
      language: undefined,
      added: [],
      parts: [['search'], ['the'], ['web']],
    });
  });

  it('appends the correction of a misspelt word, and keeps what was written', () => {
    expect(read('serach the web').words).toBe('serach the web search');
    expect(read('kuberntes').added).toEqual(['kubernetes']);
  });

  it('prefers words of the catalogue to other words', () => {
    expect(read('flie').added).toEqual(['file']);
  });

  it('corrects no word that is known, in whatever form', () => {
    expect(read('calender thinking files').added).toEqual([]);
  });

  it('corrects no names of people and places', () => {
    expect(read('search for Serach').added).toEqual([]);
  });

  it('separates words that were written as one', () => {
    expect(read('piechart').added).toEqual(['pie chart']);
  });

  it('spells out abbreviations', () => {
    expect(read('open a PR').added).toEqual(['pull request']);
    expect(read('mkdir').added).toEqual(['create directory']);
    expect(read('the film of Mr Web').added).toEqual([]);
  });

  it.each([
    ['es', 'muestra el estado del servidor', 'delete'],
    ['es', 'del servidor', 'delete'],
    ['it', 'mostra lo stato del server e delle cartelle', 'delete'],
    ['it', 'ci sono cartelle da creare', 'integration'],
    ['fr', 'affiche le dossier ci-dessous', 'integration'],
    ['de', 'zeige dir den Ordner', 'directory'],
  ])('spells out no word of a query in %s: %s', (_language, query, english) => {
    expect(read(query).added.join(' ')).not.toContain(english);
  });

  it('spells out abbreviations that other languages use too', () => {
    expect(read('den PR mit dem Ordner öffnen').added).toContain('pull request');
  });

  it.each([
    ['de', 'Ordner erstellen', ['folder', 'create']],
    ['es', 'crear una carpeta', ['create', 'folder']],
    ['fr', 'créer un dossier', ['create', 'folder']],
    ['it', 'crea una cartella', ['create', 'folder']],
    ['pt', 'criar uma pasta', ['create', 'folder']],
    ['zh', '创建文件夹', ['create', 'folder']],
    ['ja', 'フォルダーを作成する', ['create', 'folder']],
  ])('translates a query in %s word by word', (language, query, english) => {
    const translated = read(query);
    expect(translated.language).toBe(language);
    for (const word of english) expect(translated.added).toContain(word);
    expect(translated.words.startsWith(query)).toBe(true);
  });

  it('searches the meaning of a translated query without its words', () => {
    expect(read('Ordner auf Kubernetes erstellen').meaning).toMatch(/^Kubernetes /);
  });

  it('translates no English query with a single word of another language', () => {
    expect(read('show the folder of the bibliothek').language).toBeUndefined();
  });
});

describe(Corrections, () => {
  const compared: string[] = [];
  const calendar = vocabulary({ calendar: 1 });
  const catalogue: Vocabulary = {
    ...calendar,
    nearest: (word, maxEdits) => {
      compared.push(word);
      return calendar.nearest(word, maxEdits);
    },
  };
  beforeEach(() => {
    compared.length = 0;
  });

  it('compare at most 16 words of a request with the catalogue, in slices, each once', () => {
    const unknown = (i: number): string =>
      `zz${String.fromCharCode(97 + (i % 26), 97 + i / 26)}qqqq`;
    const lines = Array.from({ length: 12 }, (_, line) =>
      Array.from({ length: 16 }, (_unused, i) => unknown(16 * line + i)).join(' '),
    );
    const corrections = new Corrections(catalogue);
    const query = lines.join('\n');
    let slices = 0;
    for (const text of [query, ...clausesOf(query)]) {
      const reading = understanding(text, catalogue, languages, corrections);
      while (!reading.next().done) slices++;
    }
    expect(compared).toEqual(Array.from({ length: 16 }, (_, i) => unknown(i)));
    expect(slices).toBeGreaterThanOrEqual(16);
  });

  it('give a clause what they gave the query', () => {
    const corrections = new Corrections(catalogue);
    const twice = ['my calender', 'calender'].map((text) =>
      atOnce(understanding(text, catalogue, languages, corrections)),
    );
    expect(twice.map(({ added }) => added)).toEqual([['calendar'], ['calendar']]);
    expect(compared).toEqual(['calender']);
  });

  it('look at no word of more letters than a word has', () => {
    const looked: string[] = [];
    const frequencyOf = (word: string): number => looked.push(word);
    const curious = { ...catalogue, isUsed: () => false, frequencyOf };
    atOnce(understanding('x'.repeat(2_000), curious, languages));
    expect([...looked, ...compared]).toEqual([]);
  });
});
