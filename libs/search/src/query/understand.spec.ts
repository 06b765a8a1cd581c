import { WordList } from '../words/word-list.js';
import { Languages } from './languages.js';
import type { Vocabulary } from './spelling.js';
import { understand } from './understand.js';

const languages = new Languages();

function vocabulary(used: Record<string, number>, others: readonly string[] = []): Vocabulary {
  const words = new WordList();
  for (const word of Object.keys(used)) words.add(word);
  const common = new WordList();
  for (const word of others) common.add(word);
  return {
    used: words,
    isUsed: (word) => word in used,
    frequencyOf: (word) => used[word] ?? 0,
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

const read = (query: string) => understand(query, tools, languages);

describe(understand, () => {
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
