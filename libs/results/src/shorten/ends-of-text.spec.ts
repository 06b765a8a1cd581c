import fc from 'fast-check';
import { endsOfText } from './ends-of-text.js';
import { writtenSize } from './written-size.js';

const MARK = /\n\[… (\d+) characters left out …\]\n/;

describe(endsOfText, () => {
  it('keeps whole sentences of the beginning and the end, and says how much is missing', () => {
    const text = Array.from({ length: 500 }, (_, i) => `This is sentence number ${i}.`).join(' ');
    const kept = endsOfText(text, 2_000, 1) ?? '';
    const [head = '', chars, tail = ''] = kept.split(MARK);
    expect(head).toMatch(/^This is sentence number 0\..*\d\.$/);
    expect(tail).toMatch(/^This is sentence.*number 499\.$/);
    expect(Number(chars)).toBe(text.length - head.length - tail.length);
    expect(head.length).toBeGreaterThan(tail.length);
  });

  it('keeps whole lines of a log', () => {
    const text = Array.from({ length: 500 }, (_, i) => `${i} GET /path/${i}`).join('\n');
    const [head = '', , tail = ''] = (endsOfText(text, 1_000, 1) ?? '').split(MARK);
    for (const line of [...head.split('\n'), ...tail.split('\n')]) {
      expect(line).toMatch(/^(\d+) GET \/path\/\1$/);
    }
  });

  it('cuts a long sentence between words', () => {
    const [head = '', , tail = ''] = (endsOfText('words '.repeat(2_000), 1_000, 1) ?? '').split(
      MARK,
    );
    expect(head).toMatch(/^(words ?)+$/);
    expect(tail).toMatch(/^(words ?)+$/);
  });

  it('does not split a character that is made of several', () => {
    const family = '👨‍👩‍👧‍👦';
    const [head = '', , tail = ''] = (endsOfText(family.repeat(300), 1_500, 1) ?? '').split(MARK);
    expect(head.replaceAll(family, '')).toBe('');
    expect(tail.replaceAll(family, '')).toBe('');
  });

  it('has no use for a tiny room', () => {
    expect(endsOfText('a'.repeat(1_000), 100, 1)).toBeUndefined();
  });

  it('never exceeds its room as it is written, and stays well-formed', () => {
    const unit = fc.constantFrom('a', '"', '\\', '\n', '字', '😀', '. ', ' ', '\u0001', 'é');
    fc.assert(
      fc.property(
        fc.array(unit, { minLength: 300, maxLength: 3_000 }),
        fc.integer({ min: 150, max: 2_000 }),
        fc.constantFrom<1 | 2>(1, 2),
        (units, room, nesting) => {
          const text = units.join('');
          const kept = endsOfText(text, room, nesting);
          if (kept === undefined) return;
          expect(writtenSize(kept, nesting)).toBeLessThanOrEqual(room);
          expect(kept.isWellFormed()).toBe(true);
        },
      ),
    );
  });
});

describe(writtenSize, () => {
  it('counts a text as JSON writes it, once or twice', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const once = JSON.stringify(text);
        const twice = JSON.stringify(once);
        expect(writtenSize(text, 1)).toBe(writtenSize(once.slice(1, -1), 0));
        expect(writtenSize(text, 2)).toBe(writtenSize(twice.slice(3, -3), 0));
      }),
    );
  });
});
