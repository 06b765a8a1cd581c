import { isResultUri, readResultUri, resultUri } from './result-uri.js';

const id = '7b0c5e0a-6e0e-4b43-9d5c-0f3f0d1f2a34';

describe(readResultUri, () => {
  it('reads the id and the page of a URI', () => {
    expect(readResultUri(resultUri(id))).toEqual({ id, page: 1 });
    expect(readResultUri(resultUri(id, 12))).toEqual({ id, page: 12 });
  });

  it.each(['', 'x', `${id}?page=0`, `${id}?page=1&a`, `${id}/`, `${id}#2`, id.slice(1), '../a'])(
    'knows no result %j',
    (rest) => {
      expect(isResultUri(`switchboard://results/${rest}`)).toBe(true);
      expect(readResultUri(`switchboard://results/${rest}`)).toBeUndefined();
    },
  );

  it('reserves no other URI', () => {
    expect(isResultUri(`switchboard://servers/${id}`)).toBe(false);
  });
});
