import { withoutDuplicates } from './duplicates.js';
import type { ScoredPassage } from '../read/passage.js';

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
  it('merges texts that differ only in case, markup and white space', () => {
    expect(keptOf(fact, `**${fact.toUpperCase()}**\n`, fact.replaceAll(' ', '  '))).toEqual([fact]);
  });

  it('merges texts that are more than 80 % alike, and no others', () => {
    expect(keptOf(fact, fact.replace('keeps', 'holds'))).toEqual([fact]);
    expect(keptOf(fact, `${fact} By the way, so does useReducer.`)).toHaveLength(2);
    expect(keptOf('Paris is in France', 'Paris is in Texas')).toHaveLength(2);
  });

  it('merges short texts and texts without spaces', () => {
    expect(keptOf('The capital is Paris', 'The capital is: Paris!')).toHaveLength(1);
    expect(keptOf('The capital is Paris', 'The capital was Paris')).toHaveLength(1);
    const chinese = '这个函数在组件的两次渲染之间保存一个值并返回修改它的函数';
    expect(keptOf(chinese, chinese.replace('保存', '保留'))).toHaveLength(1);
  });

  it('keeps texts whose numbers differ', () => {
    expect(
      keptOf('Issue 12: the login page is broken', 'Issue 13: the login page is broken'),
    ).toHaveLength(2);
    expect(keptOf('Released on 2025-01-02 as v1.2', 'Released on 2025-01-02 as v1.3')).toHaveLength(
      2,
    );
  });

  it.each([
    [
      'one number of many',
      'On 1, 2, 3, 4, 5, 6, 7, 8, 9 and 10 May',
      'On 1, 2, 3, 4, 5, 6, 7, 8, 9 and 11 May',
    ],
    ['the order of numbers', 'It rose from 12 to 34 percent', 'It rose from 34 to 12 percent'],
    ['a version', 'It was mended in version 4.18.2', 'It was mended in version 4.18.3'],
    ['a number that only one has', 'The limit is raised to 80', 'The limit is raised too'],
    ['a function', 'Call getUserByName with the name', 'Call setUserByName with the name'],
    ['a constant', 'Set MAX_OPEN_FILES in the file', 'Set MIN_OPEN_FILES in the file'],
    ['a dotted name', 'It is read by config.server.port', 'It is read by config.server.host'],
    ['a method of HTTP', 'Send GET to the users route', 'Send PUT to the users route'],
    ['a package', 'Install @app/registry first of all', 'Install @app/register first of all'],
    ['an id without digits', 'See issue ABC-def_ghij for that', 'See issue ABC-def_ghik for that'],
  ])('does not merge what differs in %s', (_, one, other) => {
    const around = 'All the words around it are the same in both of these two passages';
    expect(keptOf(`${around}. ${one}. ${around}.`, `${around}. ${other}. ${around}.`)).toHaveLength(
      2,
    );
  });

  it('merges texts that differ only in their URL or in code marks', () => {
    const text = `Call useState with the first value. ${fact}`;
    expect(
      keptOf(`${text} Source: https://a.example/docs`, `${text} Source: https://b.example/help`),
    ).toHaveLength(1);
    expect(keptOf(text, text.replaceAll('useState', '`useState`'))).toHaveLength(1);
  });

  it('keeps the first with the sources of all', () => {
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

  it('keeps many similar texts that all have other numbers', () => {
    const template = 'The same long sentence stands in each of these records, but for its number: ';
    const passages = Array.from({ length: 1_000 }, (_, i) =>
      passage(`${template.repeat(8)} ${i} and ${i * 7} and ${i * 13}`),
    );
    expect(withoutDuplicates(passages)).toHaveLength(1_000);
  });
});
