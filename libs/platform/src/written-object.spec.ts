import fc from 'fast-check';
import type { JsonObject } from './json.js';
import { onOneLine, WrittenObject } from './written-object.js';

const read = (text: string): WrittenObject | undefined => WrittenObject.read(Buffer.from(text));
const written = (text: string): WrittenObject => {
  const object = read(text);
  if (!object) throw new Error(`not read: ${text}`);
  return object;
};
const textOf = (object: WrittenObject): string => object.bytes.toString();

/** Any JSON object, written with any white space where JSON allows it. */
const spaced = fc
  .tuple(
    fc.dictionary(fc.string(), fc.jsonValue()),
    fc.array(fc.constantFrom('', ' ', '\n', '\r\n', '\t '), { minLength: 1 }),
  )
  .map(([object, spaces]) => {
    let turn = 0;
    const space = (): string => spaces[turn++ % spaces.length] ?? '';
    const write = (value: unknown): string => {
      if (Array.isArray(value)) return `[${space()}${value.map(write).join(`${space()},`)}]`;
      if (typeof value !== 'object' || value === null) return JSON.stringify(value);
      const members = Object.entries(value).map(
        ([key, inner]) => `${JSON.stringify(key)}${space()}:${space()}${write(inner)}`,
      );
      return `{${space()}${members.join(`${space()},${space()}`)}${space()}}`;
    };
    return `${space()}${write(object)}${space()}`;
  });
describe(WrittenObject.name, () => {
  it('has the members that JSON.parse finds, however they are written', () => {
    fc.assert(
      fc.property(spaced, (text) => {
        const parsed = JSON.parse(text) as JsonObject;
        const object = written(text);
        expect(object.keys).toEqual(expect.arrayContaining(Object.keys(parsed)));
        expect(object.keys).toHaveLength(Object.keys(parsed).length);
        for (const key of Object.keys(parsed)) expect(object.get(key)).toEqual(parsed[key]);
        expect(object.toObject()).toEqual(parsed);
      }),
    );
  });

  it('changes some members and leaves the bytes of all others', () => {
    fc.assert(
      fc.property(spaced, fc.dictionary(fc.string(), fc.jsonValue()), (text, changes) => {
        const before = written(text);
        const after = before.with(changes as JsonObject);
        const expected = JSON.stringify({ ...before.toObject(), ...changes });
        expect(after.toObject()).toEqual(JSON.parse(expected));
        expect(written(textOf(after)).keys).toEqual(after.keys);
        for (const key of before.keys) {
          if (!Object.hasOwn(changes, key)) expect(after.raw(key)).toEqual(before.raw(key));
        }
        for (const key of after.keys) expect(after.without(key).has(key)).toBe(false);
      }),
    );
  });

  it('keeps numbers that JavaScript has no number for', () => {
    const object = written('{"big": 12345678901234567890.10, "other": 1}').without('other');
    expect(textOf(object)).toBe('{"big": 12345678901234567890.10}');
  });

  it('finds the end of long strings whatever is escaped in them', () => {
    for (const inside of ['"', '\\', '\\"', '\\\\', 'x'.repeat(200) + '\\', '"}]']) {
      const text = JSON.stringify({ a: 'y'.repeat(90) + inside, b: inside.repeat(100), c: 1 });
      expect(written(text).toObject()).toEqual(JSON.parse(text));
      expect(written(text).keys).toEqual(['a', 'b', 'c']);
    }
  });

  it.each([
    '',
    '1',
    '[]',
    '{',
    '{"a":1',
    '{"a":1}}',
    '{"a":1} {"b":2}',
    '{"a":}',
    '{"a" 1}',
    '{"a":1,}',
    '{,"a":1}',
    '{"a":"unfinished}',
    '{"a":[1,2}',
    '{a:1}',
    '{"a":1,"a":2}',
    '{"a":1,"\\u0061":2}',
  ])('does not take %j for an object', (text) => {
    expect(read(text)).toBeUndefined();
  });

  it('has many members as quickly as few', () => {
    const many = Object.fromEntries(Array.from({ length: 200_000 }, (_, i) => [`key${i}`, i]));
    const object = WrittenObject.of(many);
    expect(object.get('key199999')).toBe(199_999);
    expect(read(`${textOf(object).slice(0, -1)},"key5":1}`)).toBeUndefined();
  });

  it('a value that is no JSON inside is no value', () => {
    const object = written('{"a":nonsense,"b":1}');
    expect([object.get('a'), object.get('b'), object.toObject()]).toEqual([
      undefined,
      1,
      undefined,
    ]);
  });
});

describe(onOneLine.name, () => {
  it('takes the line ends away and nothing else', () => {
    fc.assert(
      fc.property(spaced, (text) => {
        const line = onOneLine(Buffer.from(text)).toString();
        expect(line).not.toMatch(/[\r\n]/);
        expect(JSON.parse(line)).toEqual(JSON.parse(text));
      }),
    );
  });
});
