import { atOnce, type JsonObject, type JsonValue, RawJsonObject, tokensOf } from '@app/platform';
import { processorMs } from '../../../../test/support/loop-delay.js';
import type { Keeping } from '../keep/kept-results.js';
import { noticeBlocks } from './notice.js';
import { measureResult } from './shorten-result.js';

const BUDGET = 2_000;
const until = new Date('2026-01-01T00:00:00Z');
const keeping = {
  isKept: true,
  id: '7b0c5e0a-6e0e-4b43-9d5c-0f3f0d1f2a34',
  pages: 8,
  until,
} as const;

function shortenedBytes(
  raw: RawJsonObject,
  about: Keeping,
  outputSchema?: JsonValue,
): RawJsonObject {
  const { shorten } = atOnce(measureResult(raw, BUDGET));
  const bytes = raw.bytes.length;
  const terms = { bytes, budgetTokens: BUDGET, keeping: about, takesLinks: true } as const;
  const notice = (leftOut: readonly string[]) => noticeBlocks({ ...terms, reader: 'mcp' }, leftOut);
  return shorten ? atOnce(shorten({ budgetTokens: BUDGET, outputSchema, notice })) : raw;
}

function shortened(result: JsonObject, outputSchema?: JsonValue): JsonObject {
  const raw = RawJsonObject.of(result);
  const kept = shortenedBytes(raw, keeping, outputSchema);
  return kept === raw ? result : kept.toObject();
}

const tokensIn = (result: JsonObject): number => tokensOf(JSON.stringify(result));
const text = (text: string): JsonObject => ({ type: 'text', text });
const link = {
  type: 'resource_link',
  uri: 'switchboard://results/7b0c5e0a-6e0e-4b43-9d5c-0f3f0d1f2a34',
};
const notice = { type: 'text', text: expect.stringContaining('The tool was executed') as string };
const prose = 'Each sentence says something. '.repeat(2_100);
const image = { type: 'image', mimeType: 'image/png', data: 'A'.repeat(60_000) };

describe(measureResult, () => {
  it('leaves a result alone that fits', () => {
    const result = { content: [text('short')] };
    expect(shortened(result)).toBe(result);
  });

  it('shortens a text of 62,000 characters, and says how to read the rest', () => {
    const result = shortened({ content: [text(prose)] });
    expect(result).toEqual({
      content: [
        { type: 'text', text: expect.stringContaining('characters left out') },
        notice,
        expect.objectContaining(link),
      ],
    });
    expect(JSON.stringify(result)).toContain(`${link.uri}?page=1 to ${link.uri}?page=8`);
    expect(tokensIn(result)).toBeLessThanOrEqual(BUDGET);
    expect(tokensIn(result)).toBeGreaterThan(BUDGET * 0.7);
  });

  it.each(['字符集很大。', '😀😀 ', '"\\"\n', 'é. '])('keeps to the budget for %j', (unit) => {
    expect(tokensIn(shortened({ content: [text(unit.repeat(20_000))] }))).toBeLessThanOrEqual(
      BUDGET,
    );
  });

  it('shortens a JSON text as JSON', () => {
    const records = Array.from({ length: 1_000 }, (_, id) => ({ id, name: `"record" ${id}` }));
    const { content } = shortened({ content: [text(JSON.stringify({ total: 1_000, records }))] });
    const [first] = content as [{ text: string }];
    const kept = JSON.parse(first.text) as { total: number; records: unknown[] };
    expect(kept.total).toBe(1_000);
    expect(kept.records).toEqual(expect.arrayContaining([records[0], records[999]]));
  });

  it('shares the budget among several blocks and leaves short ones whole', () => {
    const { content } = shortened({ content: [text(prose), text('A short one.'), text(prose)] });
    const [first, second, third] = content as { text: string }[];
    expect(second).toEqual(text('A short one.'));
    for (const cut of [first, third]) expect(cut?.text).toContain('characters left out');
  });

  it('keeps the first and last of very many blocks', () => {
    const blocks = Array.from({ length: 1_000 }, (_, i) => text(`block ${i}`));
    const result = shortened({ content: blocks });
    expect(result['content']).toEqual(expect.arrayContaining([text('block 0'), text('block 999')]));
    expect(JSON.stringify(result)).toMatch(/\d+ of 1000 content blocks/);
    expect(tokensIn(result)).toBeLessThanOrEqual(BUDGET);
  });

  it('counts an image as models do, and keeps it whole', () => {
    const result = { content: [text('A screenshot.'), image] };
    expect(shortened(result)).toBe(result);
  });

  it('names a block that cannot be cut and does not fit', () => {
    const audio = { type: 'audio', mimeType: 'audio/wav', data: 'A'.repeat(60_000) };
    const result = shortened({ content: [audio, text('A recording.')] });
    expect(result['content']).toEqual([
      text('A recording.'),
      notice,
      expect.objectContaining(link),
    ]);
    expect(JSON.stringify(result)).toMatch(/audio \(audio\/wav, 600\d\d bytes\)/);
  });

  it('counts what cannot be named one by one', () => {
    const audio = { type: 'audio', mimeType: 'audio/wav', data: 'A'.repeat(60_000) };
    const result = shortened({
      content: [audio, audio, audio],
      ...Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`member ${i}`, prose])),
    });
    expect(JSON.stringify(result)).toMatch(/the member member 0; .*; \d+ more\./);
    expect(tokensIn(result)).toBeLessThanOrEqual(BUDGET);
  });

  it('cuts the text of an embedded resource and keeps its URI', () => {
    const resource = { uri: 'file:///a', mimeType: 'text/plain', text: prose };
    const { content } = shortened({ content: [{ type: 'resource', resource }] });
    const [first] = content as [{ resource: JsonObject }];
    expect(first.resource).toEqual({
      ...resource,
      text: expect.stringContaining('characters left out'),
    });
  });

  it('keeps isError, resultType and small members, and names a large one', () => {
    const members = { isError: true, resultType: 'complete', _meta: { 'a/b': 1 } };
    const result = shortened({ content: [text(prose)], ...members, extra: prose });
    expect(result).toEqual({ content: expect.any(Array), ...members });
    expect(JSON.stringify(result)).toContain('the member extra');
  });

  it('leaves a request for input alone', () => {
    const result = { resultType: 'input_required', inputRequests: { a: prose } };
    expect(shortened(result)).toBe(result);
  });

  it('says why the rest cannot be read if it was not kept', () => {
    const raw = RawJsonObject.of({ content: [text(prose)] });
    const reason = 'there is no room for it';
    const written = shortenedBytes(raw, { isKept: false, reason }).bytes.toString();
    expect(written).toContain('cannot be read, because there is no room for it');
    expect(written).not.toContain('resource_link');
  });
});

describe('structured content', () => {
  const items = Array.from({ length: 1_000 }, (_, id) => ({ id, name: `item ${id}` }));
  const list = { type: 'object', properties: { items: { type: 'array' } }, required: ['items'] };
  const structuredContent = { items };

  it('is shortened beside the text, valid against its schema', () => {
    const content = [text(JSON.stringify(structuredContent))];
    const result = shortened({ content, structuredContent, isError: false }, list);
    const { items: kept } = result['structuredContent'] as { items: typeof items };
    expect(items).toEqual(expect.arrayContaining(kept));
    expect(kept.length).toBeGreaterThan(20);
    expect(result['isError']).toBe(false);
    expect(tokensIn(result)).toBeLessThanOrEqual(BUDGET);
  });

  it('is left out with the reason if it cannot stay valid, as an error that says the tool was executed', () => {
    const rigid = { ...list, properties: { items: { type: 'array', minItems: 1_000 } } };
    const result = shortened(
      { content: [text('1,000 items')], structuredContent, isError: false },
      rigid,
    );
    expect(result).toEqual({
      content: [text('1,000 items'), notice, expect.anything()],
      isError: true,
    });
    expect(JSON.stringify(result)).toContain('valid against the output schema');
  });

  it('stays whole if it fits and cannot be cut, and the text gives way', () => {
    const few = { items: items.slice(0, 100) };
    const rigid = { ...list, properties: { items: { type: 'array', minItems: 100 } } };
    const result = shortened({ content: [text(prose)], structuredContent: few }, rigid);
    expect(result['structuredContent']).toEqual(few);
    expect(tokensIn(result)).toBeLessThanOrEqual(BUDGET);
  });
});

describe('the time that shortening takes', () => {
  it.each<[string, string]>([
    ['one text', JSON.stringify('word '.repeat(2_000_000))],
    ['escapes', `"${'\\u0001'.repeat(1_500_000)}"`],
    ['many items', `[${'1,'.repeat(900_000)}1]`],
    ['nested lists', `${'['.repeat(5_000)}${'1,'.repeat(500_000)}1${']'.repeat(5_000)}`],
    ['objects in objects', `${'{"a":'.repeat(900)}"${'a'.repeat(8_000_000)}"${'}'.repeat(900)}`],
    ['many members', `{${Array.from({ length: 400_000 }, (_, i) => `"${i}":1`).join()}}`],
  ])('is linear for %s', (_, json) => {
    for (const result of [
      `{"content":[],"structuredContent":${json}}`,
      `{"content":[{"type":"text","text":${json.startsWith('"') ? json : JSON.stringify(json)}}]}`,
    ]) {
      const raw = RawJsonObject.read(Buffer.from(result));
      if (!raw) throw new Error('not JSON');
      const spent = processorMs(() => shortenedBytes(raw, keeping));
      // By the square of the length it would take minutes.
      expect(spent).toBeLessThan(10_000);
    }
  });
});
