import { termsOf } from './terms.js';

describe(termsOf, () => {
  it('splits identifiers in any notation', () => {
    const expected = termsOf('create issue comment');
    expect(termsOf('create_issue-comment')).toEqual(expected);
    expect(termsOf('createIssueComment')).toEqual(expected);
    expect(termsOf('create.issue/comment')).toEqual(expected);
    expect(termsOf('getHTTPUser')).toEqual(termsOf('get http user'));
  });

  it('stems words and drops stop words', () => {
    expect(termsOf('the translations')).toEqual(termsOf('translation'));
    expect(termsOf('what is it')).toEqual([]);
  });

  it('makes each CJK character a term', () => {
    expect(termsOf('必应搜索')).toEqual(['必', '应', '搜', '索']);
  });

  it('drops runs of data', () => {
    expect(termsOf(`id ${'x'.repeat(200)}`)).toEqual(['id']);
  });
});
