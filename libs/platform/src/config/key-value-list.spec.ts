import { keyValueList } from './key-value-list.js';

describe(keyValueList, () => {
  it.each([
    ['', {}],
    ['a=1', { a: '1' }],
    [' A=1 , b=x%20y=z ,', { a: '1', b: 'x y=z' }],
  ])('reads %j as headers', (text, headers) => {
    expect(keyValueList(text, 'headers')).toEqual(headers);
  });

  it.each([
    ['a', 1],
    ['a=1,=2', 2],
    ['a=%zz', 1],
    ['a b=1', 1],
    ['a=1%0d%0ax-evil: 1', 1],
    [`a=${'x'.repeat(2_000)}`, 1],
  ])('names the position of what is no header in %j', (text, position) => {
    expect(keyValueList(text, 'headers')).toBe(position);
  });

  it('reads attributes in any language', () => {
    expect(keyValueList('team=caf%C3%A9', 'attributes')).toEqual({ team: 'café' });
  });
});
