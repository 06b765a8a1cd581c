import { processorMs } from '../../../../test/support/loop-delay.js';
import { MAX_PIECE_CHARS, piecesOfText } from './text-pieces.js';

const textsOf = (text: string): string[] => piecesOfText(text).map((piece) => piece.text);
const sentence = (n: number): string => `Sentence number ${n} says something of its own. `;
const paragraphs = (count: number): string =>
  Array.from({ length: count }, (_, i) => sentence(i).repeat(8).trim()).join('\n\n');

describe(piecesOfText, () => {
  it('keeps a short text whole', () => {
    expect(textsOf('One answer.\n\nIn two paragraphs.')).toEqual([
      'One answer.\n\nIn two paragraphs.',
    ]);
    expect(textsOf(' \n ')).toEqual([]);
  });

  it('splits at headings and rules', () => {
    const body = 'Enough words to be understood without the others, and then some.';
    expect(
      textsOf(`## First\n\n${body}\n\n## Second\n\n${body}\n\n-----\n\nThird: ${body}`),
    ).toEqual([`## First\n\n${body}`, `## Second\n\n${body}`, `Third: ${body}`]);
  });

  it('keeps a heading with the text after it', () => {
    const text = '# Manual\n\n## Hooks\n\nEnough words to be understood without any of the others.';
    expect(textsOf(text)).toHaveLength(1);
  });

  it('ignores headings and rules in code', () => {
    const code =
      '```sh\n# not a heading, however much it looks like one to a reader\n\n---\nls\n```';
    expect(textsOf(`See this example of a shell script, which is long enough:\n\n${code}`)).toEqual(
      [expect.stringContaining(code)],
    );
  });

  it('splits long sections at paragraphs and repeats the heading', () => {
    const pieces = textsOf(`## Long story\n\n${paragraphs(12)}`);
    expect(pieces.length).toBeGreaterThan(2);
    for (const piece of pieces) {
      expect(piece).toMatch(/^## Long story\n\n/);
      expect(piece).toMatch(/own\.$/);
      expect(piece.length).toBeLessThanOrEqual(MAX_PIECE_CHARS);
    }
  });

  it('splits a long paragraph at sentences, and text without sentences at a length', () => {
    const story = Array.from({ length: 100 }, (_, i) => sentence(i)).join('');
    for (const piece of textsOf(story)) expect(piece.trim()).toMatch(/^Sentence.*own\.$/s);
    expect(Math.max(...textsOf('x'.repeat(10_000)).map(({ length }) => length))).toBe(1_000);
  });

  it('keeps every word of the text', () => {
    const text = `# A\n\n${paragraphs(9)}\n\n---\n\n- one\n- two\n\n${'y'.repeat(3_000)}`;
    const words = (part: string): string => part.replaceAll(/[#\s-]/g, '');
    expect(words(textsOf(text).join('').replaceAll('# A', ''))).toBe(words(text).slice(1));
  });

  it('reads the URL of a section from its source line', () => {
    const text = `### useState\n\nSource: https://react.dev/reference\n\n${paragraphs(8)}`;
    const pieces = piecesOfText(text);
    expect(pieces.length).toBeGreaterThan(1);
    for (const { url } of pieces) expect(url).toBe('https://react.dev/reference');
  });

  it('takes linear time for megabytes', () => {
    const text = `${'# '.repeat(50_000)}\n${'- - '.repeat(50_000)}x\n${'word '.repeat(100_000)}`;
    expect(processorMs(() => void piecesOfText(text))).toBeLessThan(5_000);
  });
});
