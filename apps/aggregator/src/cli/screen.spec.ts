import { screenOf, shown, visible } from './screen.js';

describe(screenOf.name, () => {
  const terminal = { isTTY: true, columns: 80 };

  it.each([
    ['a pipe', {}, {}, { isTerminal: false, columns: undefined, hasColour: false }],
    ['a terminal', terminal, {}, { isTerminal: true, columns: 80, hasColour: true }],
    ['NO_COLOR', terminal, { NO_COLOR: '1' }, { hasColour: false }],
    ['an empty NO_COLOR', terminal, { NO_COLOR: '' }, { hasColour: true }],
    ['TERM=dumb', terminal, { TERM: 'dumb' }, { hasColour: false }],
    ['a terminal of no width', { isTTY: true, columns: 0 }, {}, { columns: undefined }],
  ])('knows %s', (_, stream, env, expected) => {
    expect(screenOf(stream, env)).toMatchObject(expected);
  });
});

describe(visible.name, () => {
  it('shows what would control the terminal, and keeps lines, tabs and other scripts', () => {
    expect(visible('\u001B]0;title\u0007 \u009B31m \u202Etxt\u2066')).toBe(
      '\\u001b]0;title\\u0007 \\u009b31m \\u202etxt\\u2066',
    );
    expect(visible('a\tb\nc é 日本 🚀 עברית')).toBe('a\tb\nc é 日本 🚀 עברית');
  });
});

describe(shown.name, () => {
  it('gives programs the text as it came', () => {
    const text = '\u001B[31mred';
    expect(shown(text, screenOf({}, {}))).toBe(text);
    expect(shown(text, screenOf({ isTTY: true }, {}))).not.toBe(text);
  });
});
