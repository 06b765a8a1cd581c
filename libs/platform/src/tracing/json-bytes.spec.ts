import { JsonBytes } from './json-bytes.js';

describe(JsonBytes, () => {
  it.each([
    'plain',
    '',
    'a "quote" and a \\',
    'line\nbreak\u0000\u007f',
    'ü€😀',
    '\ud800 alone',
    'x'.repeat(20_000),
    '€'.repeat(20_000),
  ])('writes any text as JSON', (text) => {
    const json = new JsonBytes();
    json.ascii('[');
    json.string(text);
    json.ascii(']');
    expect(json.written.toString()).toBe(JSON.stringify([text]));
    expect(json.written).toHaveLength(json.length);
  });

  it.each([
    [0, '000000'],
    [7, '000007'],
    [123_456, '123456'],
    [999_999, '999999'],
  ])('writes %d with six digits', (value, text) => {
    const json = new JsonBytes(1);
    json.sixDigits(value);
    expect(json.written.toString()).toBe(text);
  });
});
