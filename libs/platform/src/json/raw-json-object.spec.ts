import fc from 'fast-check';
import type { JsonObject } from './json.js';
import { onOneLine, RawJsonObject } from './raw-json-object.js';

const read = (text: string): RawJsonObject | undefined => RawJsonObject.read(Buffer.from(text));
const written = (text: string): RawJsonObject => {
  const object = read(text);
  if (!object) throw new Error(`not read: ${text}`);
  return object;
};
const textOf = (object: RawJsonObject): string => object.bytes.toString();

/** Any JSON object, with white space wherever JSON allows it. */
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
describe(RawJsonObject.name, () => {
  it('has the members that JSON.parse finds, however they are written', () => {
    fc.assert(
      fc.property(spaced, (text) => {
        const parsed = JSON.parse(text) as JsonObject;
        const object = written(text);
        expect([...object.keys].sort()).toEqual(Object.keys(parsed).sort());
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

  it('does not copy a large object to change it', () => {
    const long = JSON.stringify('x'.repeat(1_000_000));
    const object = written(`{"a":1,"long":${long},"b":2}`);
    const changed = object.with({ b: 3, c: 4 });
    const copied = changed.pieces.filter(({ buffer }) => buffer !== object.bytes.buffer);
    expect(Buffer.concat(copied).length).toBeLessThan(100);
    expect(Buffer.concat(changed.pieces).toString()).toBe(`{"a":1,"long":${long},"b":3,"c":4}`);
    expect(textOf(changed)).toBe(`{"a":1,"long":${long},"b":3,"c":4}`);
    expect(changed.without('a').keys).toEqual(['long', 'b', 'c']);
  });

  it('keeps numbers that JavaScript cannot represent', () => {
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
    '{"a":nonsense}',
    '{"a":NaN,"b":1}',
  ])('does not take %j for an object', (text) => {
    expect(read(text)).toBeUndefined();
  });

  it('reads the last of two equal keys, and changes both', () => {
    const object = written('{"a":1,"b":2,"\\u0061":3}');
    expect([object.get('a'), textOf(object)]).toEqual([3, '{"a":1,"b":2,"\\u0061":3}']);
    expect(textOf(object.without('a'))).toBe('{"b":2}');
    expect(textOf(object.with({ a: 4 }))).toBe('{"b":2,"a":4}');
  });

  it('passes on 900,000 members and looks at the first 1,000', () => {
    const few = Array.from({ length: 999 }, (_, i) => `"key${i}":${i}`).join();
    const many = Array.from({ length: 900_000 }, (_, i) => `"more${i}":${i}`).join();
    const object = written(`{"isError":true,${few} , ${many}}`);
    expect([object.get('isError'), object.has('more5')]).toEqual([true, false]);
    expect(object.keys).toHaveLength(1_000);
    expect(textOf(object.without('isError'))).toBe(`{${few}, ${many}}`);
    expect(textOf(object.with({ isError: false }))).toBe(`{${few}, ${many},"isError":false}`);
    expect(JSON.parse(textOf(object.with({ key998: 0 })))).toMatchObject({ key998: 0, more1: 1 });
  });

  it('passes on 1,000 members as they are', () => {
    const members = Array.from({ length: 999 }, (_, i) => `"key${i}":${i}`).join();
    expect(textOf(written(`{"a":1,${members} }`).without('a'))).toBe(`{${members}}`);
  });
});

describe(onOneLine.name, () => {
  it('removes line ends and nothing else', () => {
    fc.assert(
      fc.property(spaced, (text) => {
        const line = onOneLine(Buffer.from(text)).toString();
        expect(line).not.toMatch(/[\r\n]/);
        expect(JSON.parse(line)).toEqual(JSON.parse(text));
      }),
    );
  });
});
