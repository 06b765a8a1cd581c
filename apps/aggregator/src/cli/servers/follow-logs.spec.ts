import { newLines } from './follow-logs.js';

describe(newLines.name, () => {
  it.each([
    [[], ['a'], ['a']],
    [['a'], ['a'], []],
    [['a', 'b'], ['a', 'b', 'c'], ['c']],
    [
      ['a', 'b', 'c'],
      ['b', 'c', 'd', 'e'],
      ['d', 'e'],
    ],
    [
      ['a', 'b'],
      ['x', 'y'],
      ['x', 'y'],
    ],
    [['tick', 'tick'], ['tick', 'tick', 'tick'], ['tick']],
    [['a', 'b', 'a'], ['b', 'a', 'b'], ['b']],
    [['a', 'b'], [], []],
    [['a', 'b', 'c'], ['a'], ['a']],
  ])('after %j and now %j they are %j', (before, now, expected) => {
    expect(newLines(before, now)).toEqual(expected);
  });
});
