import { termsOf } from './terms.js';

describe(termsOf, () => {
  it('splits identifiers, whatever joins their words', () => {
    const expected = termsOf('create issue comment');
    expect(termsOf('create_issue-comment')).toEqual(expected);
    expect(termsOf('createIssueComment')).toEqual(expected);
    expect(termsOf('create.issue/comment')).toEqual(expected);
    expect(termsOf('getHTTPUser')).toEqual(termsOf('get http user'));
  });

  it('takes words of one stem for one word, and leaves stop words out', () => {
    expect(termsOf('the translations')).toEqual(termsOf('translation'));
    expect(termsOf('what is it')).toEqual([]);
  });

  it('takes every CJK character for a word', () => {
    expect(termsOf('必应搜索')).toEqual(['必', '应', '搜', '索']);
  });

  it('leaves runs of data out', () => {
    expect(termsOf(`id ${'x'.repeat(200)}`)).toEqual(['id']);
  });
});
