import type { Screen } from './screen.js';
import { cut, fields, table, widthOf } from './table.js';

const pipe: Screen = { isTerminal: false, columns: undefined, hasColour: false };
const terminal = (columns: number, hasColour = false): Screen => ({
  isTerminal: true,
  columns,
  hasColour,
});

describe(table.name, () => {
  it('aligns columns and leaves nothing behind the last text of a line', () => {
    const rows = [
      ['a', 'CONNECTED', ''],
      ['longer', 'ERROR', 'why'],
    ];
    expect(table(['NAME', 'STATUS', ''], rows, pipe).split('\n')).toEqual([
      'NAME    STATUS',
      'a       CONNECTED',
      'longer  ERROR      why',
    ]);
  });

  it('ends lines at the edge of a terminal, and nowhere in a pipe', () => {
    const rows = [['name', 'a very long description of it']];
    expect(table(['A', 'B'], rows, terminal(16))).toBe('A     B\nname  a very lo…');
    expect(table(['A', 'B'], rows, terminal(5))).toBe('A    \nname ');
    expect(table(['A', 'B'], rows, pipe)).toContain('description of it');
  });

  it('aligns characters of two columns', () => {
    const lines = table(
      ['A', 'B'],
      [
        ['日本', 'x'],
        ['🚀', 'y'],
        ['é', 'z'],
      ],
      pipe,
    ).split('\n');
    expect(lines).toEqual(['A     B', '日本  x', '🚀    y', 'é     z']);
  });

  it('keeps each row on its line and shows control characters', () => {
    const text = table(['A'], [['two\nlines \u001B[2Jgone \u202Eback']], pipe);
    expect(text).toBe('A\ntwo lines \\u001b[2Jgone \\u202eback');
  });

  it('colours states, on terminals with colours only', () => {
    expect(table(['A', 'B'], [['ERROR', 'x']], terminal(80, true))).toBe(
      'A      B\n\u001B[31mERROR\u001B[39m  x',
    );
    expect(table(['A', 'B'], [['ERROR', 'x']], terminal(80))).not.toContain('\u001B');
  });
});

describe(fields.name, () => {
  it('leaves out what is not there, and indents further lines', () => {
    const pairs = [
      ['name', 'x'],
      ['error', null],
      ['note', ''],
      ['warnings', 'one\ntwo'],
    ] as const;
    expect(fields(pairs)).toBe('name      x\nwarnings  one\n          two');
  });
});

describe(cut.name, () => {
  it.each([
    ['abc', 3, 'abc'],
    ['abcd', 3, 'ab…'],
    ['日本語', 4, '日…'],
    ['👩‍👩‍👧 family', 3, '👩‍👩‍👧…'],
    ['abc', 0, ''],
  ])('cuts %s to %i columns', (text, columns, expected) => {
    expect(cut(text, columns)).toBe(expected);
    expect(widthOf(cut(text, columns))).toBeLessThanOrEqual(columns);
  });
});
