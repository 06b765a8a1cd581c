import { namesIn } from './exact-names.js';

const identifiersIn = (text: string): readonly string[] => namesIn(`${text} ${'.'.repeat(200)}`);

describe(namesIn, () => {
  it('has the whole of a short query, and the identifiers in it', () => {
    expect(namesIn('call create_issue.')).toEqual(['call create_issue.', 'create_issue']);
  });

  it('finds identifiers in every spelling', () => {
    const all = [
      'create_issue',
      'create-issue',
      'createIssue',
      'forge.create_issue',
      'a:b',
      'x/y1',
    ];
    expect(identifiersIn(all.join(', '))).toEqual(all);
  });

  it('takes no word and no name of a product for one', () => {
    expect(identifiersIn('list GitHub issues - all. HTTP 2')).toEqual([]);
  });

  it('ignores what is longer than a name, and more than a few', () => {
    expect(identifiersIn(`${'a'.repeat(1_000)}_b`)).toEqual([]);
    expect(identifiersIn('a_b '.repeat(30))).toHaveLength(8);
  });
});
