import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { isJsonObject, type JsonObject, type JsonValue } from './json.js';
import { JsonFault } from './json-scan.js';
import { writeJson } from './kept-json.js';
import { parseKept, withoutByteOrderMark } from './parse-kept.js';
import { RawJsonObject } from './raw-json-object.js';

/** Duration in seconds; FUZZ_SECONDS=600 for a long run. */
const SECONDS = Number(process.env['FUZZ_SECONDS'] ?? 3);

const corpus = JSON.parse(readFileSync('test/fixtures/json/corpus.json', 'utf8')) as {
  readonly valid: string[];
  readonly invalid: string[];
};

/** The value by `JSON.parse`, after a decoder that refuses invalid UTF-8. */
function reference(text: Buffer): { readonly value: JsonValue } | undefined {
  try {
    const decoded = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(text);
    return { value: JSON.parse(decoded) as JsonValue };
  } catch {
    return undefined;
  }
}

/** Either the same result or a refusal; never a different result. */
function compare(bytes: Buffer): void {
  const text = withoutByteOrderMark(bytes);
  const expected = reference(text);
  const found = parseKept(text, 3);
  if (found instanceof JsonFault) {
    if (expected) throw new Error(`refused: ${found.message}`);
    expect(found.offset).toBeLessThanOrEqual(text.length);
    return;
  }
  if (!expected) throw new Error('accepted what is no JSON');
  expect(found).toEqual(expected.value);
  if (typeof found === 'object') expect(writeJson(found)).toBe(text.toString());
  const object = RawJsonObject.read(text);
  expect(object === undefined).toBe(!isJsonObject(expected.value));
  if (object && isJsonObject(expected.value)) compareMembers(object, expected.value);
}

function compareMembers(object: RawJsonObject, expected: JsonObject): void {
  expect(new Set(object.keys)).toEqual(new Set(Object.keys(expected)));
  for (const [key, value] of Object.entries(expected)) {
    expect(object.get(key)).toEqual(value);
    expect(object.without(key).has(key)).toBe(false);
    const { [key]: _gone, ...rest } = expected;
    expect(object.without(key).toObject()).toEqual(rest);
    expect(object.with({ [key]: 1 }).toObject()).toEqual({ ...rest, [key]: 1 });
  }
}

const space = fc.stringMatching(/^[ \t\r\n]{0,3}$/);
const number = fc.oneof(
  fc.stringMatching(/^-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?$/),
  fc.constantFrom('-0', '1e400', '9007199254740993', '0e0', '1.0'),
);
const text = fc.oneof(
  fc.string({ unit: 'binary' }).map((s) => JSON.stringify(s)),
  fc.stringMatching(/^"([ !#-[\]-~]|\\u[0-9a-fA-F]{4}|\\["\\/bfnrt]){0,40}"$/),
);
const key = fc.oneof(text, fc.constantFrom('"a"', '"\\u0061"', '"2"', '"1"', '"__proto__"', '""'));
/** JSON texts with any white space, numbers, escapes and repeated keys. */
const json = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(number, text, fc.constantFrom('true', 'false', 'null')),
    fc.tuple(space, fc.array(tie('value'), { maxLength: 4 }), space).map(([a, items, b]) => {
      return `[${a}${items.join(`${b},${a}`)}${b}]`;
    }),
    tie('object'),
  ),
  object: fc
    .tuple(space, fc.array(fc.tuple(key, space, tie('value')), { maxLength: 4 }), space)
    .map(([a, members, b]) => {
      return `{${a}${members.map(([name, c, value]) => `${name}${c}:${c}${value}`).join(`${b},${a}`)}${b}}`;
    }),
}));
const mutation = fc.record({
  at: fc.nat(),
  cut: fc.nat(6),
  put: fc.oneof(
    fc.constantFrom('NaN', ',', '"', '\\', '[', '}', '\u0000', '\ufeff', '01', '-', '\n'),
    fc.uint8Array({ maxLength: 4 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
  ),
  pad: fc.constantFrom(0, 0, 0, 32_700, 32_768, 65_530),
});

describe('the reader of JSON beside JSON.parse', () => {
  it('accepts exactly the valid texts of the corpus', () => {
    for (const each of corpus.valid) {
      expect([each, reference(Buffer.from(each)) !== undefined]).toEqual([each, true]);
      compare(Buffer.from(each));
    }
    for (const each of corpus.invalid) {
      expect([each, parseKept(Buffer.from(each), 2) instanceof JsonFault]).toEqual([each, true]);
      compare(Buffer.from(each));
    }
  });

  it(
    'gives the same result for generated, truncated, mutated and split texts',
    () => {
      fc.assert(
        fc.property(
          fc.oneof(json.object, json.value),
          mutation,
          (written, { at, cut, put, pad }) => {
            compare(Buffer.from(written));
            const padded = `{"pad":"${'x'.repeat(pad)}","a":${written}}`;
            compare(Buffer.from(padded));
            const bytes = Buffer.from(padded);
            const start = bytes.length - (at % Math.min(bytes.length, written.length + 4));
            const end = Math.min(bytes.length, start + cut);
            compare(
              Buffer.concat([
                bytes.subarray(0, start),
                Buffer.from(put, 'latin1'),
                bytes.subarray(end),
              ]),
            );
            compare(bytes.subarray(0, start));
          },
        ),
        { numRuns: Number.MAX_SAFE_INTEGER, interruptAfterTimeLimit: SECONDS * 1_000 },
      );
    },
    SECONDS * 1_000 + 60_000,
  );
});
