import fc from 'fast-check';
import { isJsonObject, type JsonObject, type JsonValue } from './json.js';
import { JsonFault } from './json-scan.js';
import { jsonLine, keptText, RawJson, writeJson } from './kept-json.js';
import { changed, keepTextOfMembers, memberAsWritten, parseKept } from './parse-kept.js';

const parsed = (text: string, depth: 1 | 2 | 3 = 2): JsonObject => {
  const value = parseKept(Buffer.from(text), depth);
  if (value instanceof JsonFault || !isJsonObject(value)) throw new Error(`no object: ${text}`);
  return value;
};
const member = (object: JsonObject, key: string): JsonObject => {
  const value = object[key];
  if (!isJsonObject(value)) throw new Error(`no object: ${key}`);
  return value;
};
const odd =
  '{"big":9007199254740993,"huge":1e400,"zero":-0,"one":1.0,"2":true,"1":[0.10],"2":"\\ud800","__proto__":{"x":1E2}}';

describe('parsed JSON that keeps its text', () => {
  it('is written unchanged, even where JavaScript would format it differently', () => {
    const { params } = parsed(`{"params": {"name":"a","arguments":${odd} } }`);
    expect(writeJson({ id: 1, params: { ...(params as JsonObject), name: 'b' } })).toBe(
      `{"id":1,"params":{"name":"b","arguments":${odd}}}`,
    );
    expect(writeJson({ params: params ?? null })).toBe(
      `{"params":{"name":"a","arguments":${odd} }}`,
    );
  });

  it('has the values that JSON.parse finds, and writes them all as they were', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(2), fc.constantFrom(1, 2, 3), (value, indent, depth) => {
        const text = JSON.stringify(value, undefined, indent);
        const kept = parseKept(Buffer.from(text), depth);
        if (kept instanceof JsonFault) throw new Error(kept.message);
        expect(JSON.stringify(kept)).toBe(JSON.stringify(JSON.parse(text)));
        const check = (inner: JsonValue, left: number): void => {
          if (typeof inner !== 'object' || inner === null) return;
          expect(JSON.parse(String(keptText(inner)))).toEqual(JSON.parse(JSON.stringify(inner)));
          if (left > 0 && isJsonObject(inner)) {
            for (const each of Object.values(inner)) check(each, left - 1);
          }
        };
        check(kept, depth);
        expect(JSON.parse(writeJson({ kept }))).toEqual({ kept: JSON.parse(text) });
      }),
    );
  });

  it('keeps the text of the last of two equal members', () => {
    const object = parsed('{"a":{"x":{"n":1.0}},"a":{"x":{"n":2.0}},"b":1}');
    expect(writeJson(member(object, 'a'))).toBe('{"x":{"n":2.0}}');
    expect(writeJson(member(member(object, 'a'), 'x'))).toBe('{"n":2.0}');
  });

  it('keeps the texts of the messages of a batch', () => {
    const batch = parseKept(Buffer.from('[1,{"id":1.0},[2], {"params":{"a":1.0}}]'), 2);
    const [, first, , second] = Array.isArray(batch) ? batch : [];
    expect([writeJson(first ?? null), writeJson(second ?? null)]).toEqual([
      '{"id":1.0}',
      '{"params":{"a":1.0}}',
    ]);
    expect(isJsonObject(second) && writeJson(member(second, 'params'))).toBe('{"a":1.0}');
  });

  it('is changed without a change to other members', () => {
    const progress = parsed('{"progress":1.0,"total":1e400,"progressToken":7}');
    const token = memberAsWritten(parsed('{"progressToken":9007199254740993}'), 'progressToken');
    const told = changed(progress, { progressToken: token });
    expect(writeJson(told)).toBe('{"progress":1.0,"total":1e400,"progressToken":9007199254740993}');
    expect(told['progress']).toBe(1);
    expect(writeJson(changed(told, { progressToken: undefined, more: { a: 1 } }))).toBe(
      '{"progress":1.0,"total":1e400,"more":{"a":1}}',
    );
    expect(writeJson(changed({ made: 'here' }, { n: new RawJson('1.0') }))).toBe(
      '{"made":"here","n":1.0}',
    );
  });

  it('keeps the texts of deeper members when asked to', () => {
    const args = member(parsed('{"arguments":{"name":"x","arguments":{"n":1.0}}}', 1), 'arguments');
    expect(keptText(args['arguments'])).toBeUndefined();
    keepTextOfMembers(args);
    expect(writeJson(member(args, 'arguments'))).toBe('{"n":1.0}');
  });

  it('is written on one line for transports with a message per line', () => {
    const object = parsed('{"params": {\n "a": "\\n",\r\n "b": 1.0 }}');
    expect(jsonLine(writeJson({ params: object['params'] ?? null }))).toBe(
      '{"params":{  "a": "\\n",   "b": 1.0 }}',
    );
  });

  it('is no JSON when a byte of it is not', () => {
    expect(parseKept(Buffer.from('{"a":NaN}'), 2)).toMatchObject({ message: 'NaN at byte 5' });
  });
});
