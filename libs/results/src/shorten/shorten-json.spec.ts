import { atOnce, type JsonValue } from '@app/platform';
import fc from 'fast-check';
import { jsonSize } from './json-parts.js';
import { SchemaFreedom } from './schema-freedom.js';
import { jsonIn, shortenJson } from './shorten-json.js';

const free = { freedom: SchemaFreedom.under(true), nesting: 0, marked: false } as const;

function shortened(
  value: JsonValue,
  room: number,
  schema: JsonValue = true,
): JsonValue | undefined {
  const freedom = SchemaFreedom.under(schema);
  const json = Buffer.from(JSON.stringify(value));
  const kept = atOnce(shortenJson(json, room, { ...free, freedom }));
  return kept && (JSON.parse(kept.toString()) as JsonValue);
}

const records = Array.from({ length: 200 }, (_, id) => ({ id, title: `Record ${id}` }));

describe(shortenJson, () => {
  it('keeps whole items of the beginning and the end of a list', () => {
    const kept = shortened(records, 1_000);
    const ids = (kept as { id: number }[]).map(({ id }) => id);
    const gap = ids.findIndex((id, i) => id !== i);
    expect(gap).toBeGreaterThan(ids.length / 2);
    expect(ids).toEqual([...ids.keys()].map((i) => (i < gap ? i : 200 - ids.length + i)));
  });

  it('shortens the large members of an object and keeps the small ones whole', () => {
    const kept = shortened({ total: 200, records, next: 'a cursor' }, 1_000);
    expect(kept).toEqual({ total: 200, records: expect.any(Array), next: 'a cursor' });
  });

  it('keeps the first and last members of an object with very many', () => {
    const wide = Object.fromEntries(records.map(({ id, title }) => [`key ${id}`, title]));
    const kept = shortened(wide, 1_000) ?? {};
    expect(Object.keys(kept)[0]).toBe('key 0');
    expect(Object.keys(kept).at(-1)).toBe('key 199');
  });

  it('cuts a long text inside the only item', () => {
    const [first] = (shortened([{ page: 'A sentence. '.repeat(1_000) }], 1_000) ?? []) as [
      { page: string },
    ];
    expect(first.page).toMatch(/^A sentence\. .*characters left out.*A sentence\.\s*$/s);
  });

  it('says to a model how many items are missing', () => {
    const json = Buffer.from(JSON.stringify(records));
    const kept = atOnce(shortenJson(json, 1_000, { ...free, marked: true }));
    expect(JSON.parse(String(kept))).toContainEqual(
      expect.stringMatching(/^… \d+ of 200 items left out …$/),
    );
  });

  it('copies numbers digit by digit', () => {
    const json = Buffer.from(`[9007199254740993, 1.0, 1e400${', 5'.repeat(1_000)}]`);
    const kept = atOnce(shortenJson(json, 500, free));
    expect(kept?.toString()).toMatch(/^\[9007199254740993,1\.0,1e400,5/);
  });

  it.each([
    ['list', []],
    ['object', {}],
  ])('counts the brackets of an empty %s', (_, empty) => {
    expect(shortened(empty, 1)).toBeUndefined();
    expect(shortened(empty, 2)).toEqual(empty);
  });

  it('fits its room and stays JSON, whatever it is given', () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 6, stringUnit: 'binary' }),
        fc.integer({ min: 10, max: 600 }),
        fc.boolean(),
        fc.constantFrom<0 | 1>(0, 1),
        (value, room, marked, nesting) => {
          const json = Buffer.from(JSON.stringify([value, value, value]));
          const kept = atOnce(shortenJson(json, room, { ...free, marked, nesting }));
          if (!kept) return;
          expect(() => JSON.parse(kept.toString()) as unknown).not.toThrow();
          expect(atOnce(jsonSize(kept, nesting))).toBeLessThanOrEqual(room);
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe(SchemaFreedom, () => {
  const list = { type: 'array', items: { $ref: '#/$defs/Record' } };
  const schema = {
    type: 'object',
    properties: { records: list, total: { type: 'integer' } },
    required: ['records', 'total'],
    $defs: { Record: { type: 'object' } },
    'x-made-by': 'a framework',
  };
  const value = { records, total: 200 };

  it('shortens lists that may have fewer items', () => {
    expect(shortened(value, 1_000, schema)).toEqual({ records: expect.any(Array), total: 200 });
  });

  it.each<[string, JsonValue]>([
    ['minItems', { ...list, minItems: 100 }],
    ['contains', { ...list, contains: {} }],
    ['a keyword that is not known', { ...list, madeUp: 1 }],
    ['a reference that leads nowhere', { $ref: '#/$defs/None' }],
    ['a choice', { anyOf: [list, { type: 'string' }] }],
  ])('does not shorten a required list with %s', (_, records) => {
    expect(
      shortened(value, 1_000, { ...schema, properties: { ...schema.properties, records } }),
    ).toBeUndefined();
  });

  it('shortens a list that may be null', () => {
    const records = { anyOf: [list, { type: 'null' }], default: null };
    expect(
      shortened(value, 1_000, { ...schema, properties: { ...schema.properties, records } }),
    ).toEqual({ records: expect.any(Array), total: 200 });
  });

  it.each<[string, JsonValue]>([
    ['a pattern', { type: 'string', pattern: '^A' }],
    ['a format', { type: 'string', format: 'uri' }],
    ['an enumeration', { enum: ['a'] }],
  ])('does not cut a text with %s', (_, text) => {
    const long = { text: 'A sentence. '.repeat(1_000) };
    const of = (text: JsonValue) => ({ type: 'object', properties: { text }, required: ['text'] });
    expect(shortened(long, 1_000, of(text))).toBeUndefined();
    expect(shortened(long, 1_000, of({ type: 'string' }))).toEqual({ text: expect.any(String) });
  });

  it('leaves out members that are not required, and no others', () => {
    const wide = Object.fromEntries(records.map(({ id, title }) => [`key ${id}`, title]));
    const kept = shortened(wide, 1_500, { type: 'object', required: ['key 100'] });
    expect(kept).toMatchObject({ 'key 0': 'Record 0', 'key 100': 'Record 100' });
    expect(shortened(wide, 1_500, { type: 'object', required: Object.keys(wide) })).toBeUndefined();
  });

  it('does not cut texts of items that have to differ', () => {
    const texts = ['A sentence. '.repeat(500), 'A sentence. '.repeat(600)];
    const kept = shortened(texts, 2_000, { type: 'array', uniqueItems: true });
    expect(kept).toEqual([]);
  });
});

describe(jsonIn, () => {
  it('takes lists and objects as JSON, and nothing else', () => {
    expect(jsonIn(' {"a":1} ')?.toString()).toBe('{"a":1}');
    expect(jsonIn('[broken')).toBeUndefined();
    expect(jsonIn('"text"')).toBeUndefined();
    expect(jsonIn('['.repeat(5_000) + ']'.repeat(5_000))).toBeUndefined();
  });
});
