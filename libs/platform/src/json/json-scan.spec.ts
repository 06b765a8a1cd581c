import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { assemble } from '../../json/build.mjs';
import { JsonFault, lastScanned, scanJson } from './json-scan.js';

const faultOf = (text: string | Buffer): string | undefined => {
  const result = scanJson(Buffer.from(text), 2);
  return result instanceof JsonFault ? result.message : undefined;
};
const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};
/** Long enough to be read in several pieces, with the tested text at every position of the border between two. */
const across = (text: string, shift: number): string =>
  `[${'"",'.repeat(10_900)}"${'x'.repeat(60 - shift)}",${text}]`;

const pieces = fc.constantFrom(
  ...'{}[],:"\\u0123eE.-+ntf\n\t\u0001é'.split(''),
  ...['true', 'false', 'null', 'NaN', '"a"', '1', '-0', '1e5', '"\\n"', '"\\u00e9"', '{}', '01'],
);
const almostJson = fc
  .tuple(fc.array(pieces, { maxLength: 9 }), fc.constantFrom('', '{"k":', '[', '[[1,'))
  .map(([parts, open]) => {
    const close =
      open === '' ? '' : open.startsWith('{') ? '}' : ']'.repeat(open.split('[').length - 1);
    return open + parts.join('') + close;
  });

describe(scanJson.name, () => {
  it('accepts the same texts as JSON.parse', () => {
    fc.assert(
      fc.property(almostJson, (text) => {
        expect([text, faultOf(text) === undefined]).toEqual([text, isJson(text)]);
      }),
      { numRuns: 3_000 },
    );
  });

  it('gives the same result wherever a piece of the text ends', () => {
    fc.assert(
      fc.property(almostJson, fc.nat(60), (inner, shift) => {
        const text = across(inner, shift);
        expect([inner, faultOf(text) === undefined]).toEqual([inner, isJson(text)]);
      }),
      { numRuns: 300 },
    );
  });

  it('accepts any JSON value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(3), (value, indent) => {
        expect(faultOf(JSON.stringify(value, undefined, indent))).toBeUndefined();
      }),
    );
  });

  it.each([
    ['{"a":NaN}', 'NaN at byte 5'],
    ['{"a":[1,-Infinity]}', '-Infinity at byte 8'],
    ['{"a":True}', 'True at byte 5'],
    ['{"a":nul}', 'nul at byte 5'],
    ['{"a":01}', '01 at byte 5'],
    ['{"a":1.}', '1. at byte 5'],
    ['{"a":+1}', '+1 at byte 5'],
    ['{"a":1,}', 'an unexpected "}" at byte 7'],
    ["{'a':1}", 'an unexpected "\'" at byte 1'],
    ['{"some words\n":1}', 'an unexpected byte 0x0a at byte 12'],
    ['{"a":1', 'the end of the text at byte 6'],
    ['', 'the end of the text at byte 0'],
    ['{} {}', 'an unexpected "{" at byte 3'],
    [`{"a":"${'x'.repeat(100_000)}","b":NaN}`, 'NaN at byte 100012'],
    [Buffer.from('7b2261223a22efbfbdff227d', 'hex'), 'a byte that is not UTF-8 at byte 9'],
    [Buffer.from('7b2261223a22eda080227d', 'hex'), 'a byte that is not UTF-8 at byte 6'],
  ])('says what is wrong with %j, and where', (text, fault) => {
    expect(faultOf(text)).toBe(fault);
  });

  it('accepts ten thousand nested brackets and refuses a million', () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    expect(faultOf(nested(10_000))).toBeUndefined();
    expect(faultOf(nested(1_000_000))).toBe(
      'more than 10000 brackets inside each other at byte 10000',
    );
  });

  it('accepts 1,000,000 values and refuses more', () => {
    const list = (values: number): string => `[${'1,'.repeat(values - 1)}1]`;
    expect(faultOf(list(999_999))).toBeUndefined();
    expect(faultOf(list(1_100_000))).toMatch(/^more than 1,000,000 values at byte /);
  });

  it('records only the outermost of many members, and reports that others are omitted', () => {
    const inner = Array.from({ length: 300_000 }, (_, i) => `"m${i}":1`).join();
    const notes = scanJson(Buffer.from(`{"a":{${inner}},"b":1}`), 2);
    if (notes instanceof JsonFault) throw new Error(notes.message);
    expect([notes.at(-5), notes.at(-1), lastScanned().areAllNoted]).toEqual([1, 1, false]);
    expect(notes.length / 4).toBeLessThan(120_000);
    scanJson(Buffer.from('{}'), 2);
    expect(lastScanned().areAllNoted).toBe(true);
  });

  it('reports the positions of the outer members', () => {
    const text = ' {"a": {"b":[1,{"c":2}]}, "d":-1.5e3,"e":{"f":"x"} }';
    const notes = scanJson(Buffer.from(text), 2);
    if (notes instanceof JsonFault) throw new Error(notes.message);
    const found = [];
    for (let i = 0; i < notes.length; i += 4) {
      const [key, value, end, depth] = Array.from(notes).slice(i, i + 4);
      found.push([depth, text.slice(key, value), text.slice(value, end)]);
    }
    expect(found).toEqual([
      [2, '"b":', '[1,{"c":2}]'],
      [1, '"a": ', '{"b":[1,{"c":2}]}'],
      [1, '"d":', '-1.5e3'],
      [2, '"f":', '"x"'],
      [1, '"e":', '{"f":"x"}'],
    ]);
  });

  it('runs the module assembled from scan.wat', async () => {
    const committed = readFileSync(new URL('../../json/scan.wasm', import.meta.url));
    expect(Buffer.from(await assemble())).toEqual(committed);
  });
});
