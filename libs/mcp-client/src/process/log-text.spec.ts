import { heldBytes } from '../../../../test/support/memory.js';
import { LogRing } from './log-ring.js';
import { LogText } from './log-text.js';

const of = (text: LogText, line: string, isCut = false): string =>
  text.of(Buffer.from(line), '', isCut);

describe(LogText.name, () => {
  it('masks the secrets of the process', () => {
    const text = new LogText(['hunter-two', 'hunter-two-and-more', 'short']);
    expect(of(text, 'a hunter-two-and-more b hunter-two c short')).toBe(
      'a ******** b ******** c short',
    );
  });

  it('shows no part of a secret where a line is cut', () => {
    const text = new LogText(['correct-horse-battery-staple']);
    expect(of(text, 'the password is correct-horse-b', true)).toBe('the password is ');
    const long = `${'x'.repeat(16_384 - 10)}correct-horse-battery-staple${'y'.repeat(1_000)}`;
    expect(of(text, long)).not.toContain('correct');
  });

  it('masks secrets of six characters, and none that is shorter', () => {
    const text = new LogText(['sixsix', 'fives']);
    expect(of(text, 'sixsix fives')).toBe('******** fives');
  });

  it('shows a whole line that ends like a secret begins', () => {
    const text = new LogText(['correct-horse']);
    expect(of(text, 'it is correct')).toBe('it is correct');
    expect(of(text, `${'x'.repeat(1_900)} correct`)).toMatch(/ correct$/);
  });

  it('drops only what the cut left of a secret', () => {
    const text = new LogText(['abcabcabcx']);
    expect(of(text, 'correct correct', true)).toBe('correct correct');
    expect(of(text, 'see abcabcaXc', true)).toBe('see abcabcaXc');
    expect(of(text, 'see abcabcX abcabca', true)).toBe('see abcabcX ');
    expect(of(text, 'abcabca', true)).toBe('');
    expect(of(text, 'see abcabcabcabc', true)).toBe('see abc');
    expect(of(text, 'see abcabcabcx', true)).toBe('see ********');
  });

  it('takes a line for cut only beyond the longest that is read', () => {
    const text = new LogText(['abcdefgh-secret']);
    const line = (length: number): string => `abcdefg${' '.repeat(length - 14)}abcdefg`;
    expect(of(text, line(2_000))).toHaveLength(2_000);
    const wide = (length: number): string => 'é'.repeat(length / 2);
    expect(of(text, wide(16_384))).toHaveLength(2_000);
  });

  it('puts the prefix before the line', () => {
    expect(new LogText([]).of(Buffer.from('hello'), '[stdout] ', false)).toBe('[stdout] hello');
  });

  it('keeps only the displayed part of a line', () => {
    const text = new LogText(['a-secret-value']);
    const ring = new LogRing();
    const before = heldBytes();
    for (let i = 0; i < 20; i++)
      ring.add(text.of(Buffer.alloc(9_900_000, 'x'), '[stdout] ', false));
    expect(heldBytes() - before).toBeLessThan(20_000_000);
    expect(ring.all()).toHaveLength(20);
    expect(ring.all()[0]).toHaveLength(2_000);
  });
});

describe(LogRing.name, () => {
  it('holds the last lines, bounded in number and in size', () => {
    const ring = new LogRing();
    for (let i = 0; i < 600; i++) ring.add(`line ${i}`);
    expect(ring.all()).toHaveLength(500);
    expect(ring.all().at(-1)).toBe('line 599');
    for (let i = 0; i < 600; i++) ring.add('x'.repeat(2_000));
    expect(ring.all().join('').length).toBeLessThanOrEqual(262_144);
    expect(ring.all().length).toBeGreaterThan(100);
  });
});
