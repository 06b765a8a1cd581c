import { withoutDuplicates } from './duplicates.js';
import type { ScoredPassage } from './passage.js';

const passage = (text: string, server = 'a', url?: string): ScoredPassage => ({
  text,
  server,
  tool: 'search',
  position: 0,
  retrievedAt: 0,
  score: 1,
  ...(url && { url }),
});
const keptOf = (...texts: string[]): string[] =>
  withoutDuplicates(texts.map((text) => passage(text))).map(({ text }) => text);

const fact =
  'useState keeps a value between renders of a component and returns a function that changes it.';

describe(withoutDuplicates, () => {
  it('takes texts that differ in case, markup and white space for one', () => {
    expect(keptOf(fact, `**${fact.toUpperCase()}**\n`, fact.replaceAll(' ', '  '))).toEqual([fact]);
  });

  it('takes texts of more than 80 % the same characters for one, and others not', () => {
    expect(keptOf(fact, fact.replace('keeps', 'holds'))).toEqual([fact]);
    expect(keptOf(fact, `${fact} By the way, so does useReducer.`)).toHaveLength(2);
    expect(keptOf('Paris is in France', 'Paris is in Texas')).toHaveLength(2);
  });

  it('finds them in short texts and in those without spaces too', () => {
    expect(keptOf('The capital is Paris', 'The capital is: Paris!')).toHaveLength(1);
    expect(keptOf('The capital is Paris', 'The capital was Paris')).toHaveLength(1);
    const chinese = '这个函数在组件的两次渲染之间保存一个值并返回修改它的函数';
    expect(keptOf(chinese, chinese.replace('保存', '保留'))).toHaveLength(1);
  });

  it('takes other numbers for another statement', () => {
    expect(
      keptOf('Issue 12: the login page is broken', 'Issue 13: the login page is broken'),
    ).toHaveLength(2);
    expect(keptOf('Released on 2025-01-02 as v1.2', 'Released on 2025-01-02 as v1.3')).toHaveLength(
      2,
    );
  });

  it('keeps the first, with where all the others stood', () => {
    const [kept, ...others] = withoutDuplicates([
      passage(fact, 'a', 'https://a.example'),
      passage(fact, 'b'),
      passage(`${fact}!`, 'c'),
      passage(fact, 'b'),
    ]);
    expect(others).toEqual([]);
    expect(kept).toMatchObject({ server: 'a' });
    expect(kept?.sources).toEqual([
      { server: 'a', tool: 'search', url: 'https://a.example' },
      { server: 'b', tool: 'search' },
      { server: 'c', tool: 'search' },
    ]);
  });

  it('keeps all of many that are alike when none is the same', () => {
    const template = 'The same long sentence stands in each of these records, but for its number: ';
    const passages = Array.from({ length: 1_000 }, (_, i) =>
      passage(`${template.repeat(8)} ${i} and ${i * 7} and ${i * 13}`),
    );
    expect(withoutDuplicates(passages)).toHaveLength(1_000);
  });
});
