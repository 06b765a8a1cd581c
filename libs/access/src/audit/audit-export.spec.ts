import { cellOf } from './audit-export.js';

describe(cellOf.name, () => {
  it.each([
    ['=1+1', '"\'=1+1"'],
    ['+1', '"\'+1"'],
    ['-1', '"\'-1"'],
    ['@SUM(A1)', '"\'@SUM(A1)"'],
    ['\t=1', '"\'\t=1"'],
    ['\r=1', '"\'\r=1"'],
  ])('does not let a spreadsheet take %j for a formula', (value, cell) => {
    expect(cellOf(value)).toBe(cell);
  });

  it.each([
    [null, ''],
    ['plain text', 'plain text'],
    ['a "b", c\nd', '"a ""b"", c\nd"'],
    [{ calls: 2 }, '"{""calls"":2}"'],
  ])('writes %j as one cell', (value, cell) => {
    expect(cellOf(value)).toBe(cell);
  });
});
