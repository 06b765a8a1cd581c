import { inSlices, RawJsonObject } from '@app/platform';
import { longestBlock } from '../../../../test/support/loop-delay.js';
import { readAnswer } from './read-answer.js';

/** A slice is 10 ms, and the longest step that cannot be interrupted 50 ms; the rest is slack for a busy machine. */
const BLOCK_MS = 300;
const CHARS = 480_000;

const textBlock = (text: string): string => JSON.stringify({ content: [{ type: 'text', text }] });
const repeated = (unit: string): string => textBlock(unit.repeat(CHARS / unit.length));
const read = async (json: string) => {
  const written = RawJsonObject.read(Buffer.from(json));
  if (!written) throw new Error('the test wrote no object');
  const { result, blockedMs } = await longestBlock(() => inSlices(readAnswer(written)));
  expect(blockedMs).toBeLessThan(BLOCK_MS);
  return result;
};

describe(readAnswer, () => {
  it.each([
    ['prose without line breaks', repeated('The quick brown fox jumps over the lazy dog. ')],
    ['short sentences', repeated('a. X. ')],
    ['paragraph separators', repeated('a\u2029')],
    ['line ends of old', repeated('a\r')],
    ['empty lines', textBlock(`a${'\n'.repeat(CHARS)}b`)],
    ['lines that name no source', repeated('source:\n')],
    ['headings', repeated('# a\n')],
    ['fences', repeated('```\n')],
    ['characters that stand for sentences', repeated('\uFDFA')],
    ['one long word', textBlock('x'.repeat(9_000_000))],
  ])('does not block the event loop on half a megabyte of %s', async (_, json) => {
    const answer = await read(json);
    expect(answer).toMatchObject({ pieces: expect.any(Array) });
  });

  it.each([
    ['keys', `{${Array.from({ length: 400_000 }, (_, i) => `"k${i}":1`).join()}}`],
    ['objects', `[${Array.from({ length: 400_000 }, (_, i) => `{"k${i}":1}`).join()}]`],
    ['lists', `{${Array.from({ length: 45_000 }, (_, i) => `"k${i}":[{"a":1}]`).join()}}`],
  ])('does not block the event loop on very many %s, and reports the cut', async (_, value) => {
    const answers = [
      await read(`{"content":[],"structuredContent":${value}}`),
      await read(textBlock(value.slice(0, CHARS))),
    ];
    expect(answers[0]).toMatchObject({ isCut: true });
    for (const answer of answers) expect(answer).toHaveProperty('pieces.length');
  });

  it('reads a part of very many blocks, with or without structured content', async () => {
    const content = Array.from({ length: 8_000 }, (_, i) => ({ type: 'text', text: `block ${i}` }));
    const items = Array.from({ length: 20_000 }, (_, i) => ({ a: `item number ${i}` }));
    const answers = [
      await read(JSON.stringify({ content })),
      await read(JSON.stringify({ content, structuredContent: { items } })),
    ];
    for (const answer of answers) {
      expect(answer).toMatchObject({ isCut: true });
      expect(answer).toHaveProperty('pieces.length', 250);
    }
    expect(answers[0]).toHaveProperty('pieces.0.text', 'block 0');
  });

  it('reads text after an image of several megabytes', async () => {
    const image = { type: 'image', data: 'A'.repeat(9_000_000), mimeType: 'image/png' };
    const content = [image, { type: 'text', text: 'what it shows' }];
    expect(await read(JSON.stringify({ content }))).toEqual({
      pieces: [{ text: 'what it shows' }],
      isCut: false,
    });
  });

  it('drops URLs that are too long', async () => {
    const uri = `https://a.example/${'x'.repeat(3_000)}`;
    const content = [
      { type: 'text', text: `Source: ${uri}\nsome words` },
      { type: 'resource_link', uri, name: 'manual' },
      { type: 'text', text: JSON.stringify([{ title: 'only a title', url: uri }]) },
    ];
    const answer = JSON.stringify(await read(JSON.stringify({ content })));
    for (const words of ['some words', 'manual', 'only a title']) expect(answer).toContain(words);
    expect(answer).not.toContain('"url"');
  });

  it('gives a short reason for an answer without pieces', async () => {
    const failed = JSON.stringify({ isError: true, content: [{ type: 'text', text: 'no disk' }] });
    expect(await read(failed)).toEqual({ problem: 'answered with an error: no disk' });
    const long = `{"isError":true,"content":[{"type":"text","text":"${' '.repeat(9_000_000)}"}]}`;
    expect(JSON.stringify(await read(long)).length).toBeLessThan(4_000);
    // What is not JSON, or deeper than this, is refused before it is an answer.
    const deep = `{"content":${'['.repeat(9_000)}${']'.repeat(9_000)}}`;
    expect(await read(deep)).toEqual({ problem: expect.stringContaining('nested too deeply') });
  });
});
