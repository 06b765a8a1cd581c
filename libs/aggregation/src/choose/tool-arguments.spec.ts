import { catalogueOf } from '../../../../test/support/catalogue.js';
import type { JsonObject } from '@app/platform';
import { argumentReader } from './tool-arguments.js';

const [tool] = catalogueOf([{ name: 'docs', tools: ['get'] }]).tools;
const readerOf = (inputSchema: JsonObject) =>
  tool && argumentReader({ ...tool, inputSchema: { type: 'object', ...inputSchema } });
const library = {
  properties: { id: { type: 'string', pattern: '^(a+)+$' }, tokens: { type: 'integer' } },
  required: ['id'],
};

describe(argumentReader, () => {
  it('returns arguments that match the schema unchanged', () => {
    expect(readerOf(library)?.('{"id": "/react", "tokens": 5}')).toEqual({
      id: '/react',
      tokens: 5,
    });
  });

  it.each([
    ['no JSON', 'id=react'],
    ['no object', '["react"]'],
    ['a missing parameter', '{"tokens": 5}'],
    ['a parameter of another type', '{"id": "/react", "tokens": "many"}'],
    ['a parameter that the schema does not name', '{"id": "/react", "force": true}'],
    ['the prototype of objects', '{"id": "/react", "__proto__": {}}'],
  ])('refuses %s', (_what, text) => {
    expect(readerOf(library)?.(text)).toBeUndefined();
  });

  it('never runs a pattern of a schema', () => {
    const text = JSON.stringify({ id: `${'a'.repeat(50_000)}!` });
    expect(readerOf(library)?.(text)).toEqual(JSON.parse(text));
  });

  it('accepts a parameter named pattern', () => {
    const grep = { properties: { pattern: { type: 'string' } }, required: ['pattern'] };
    expect(readerOf(grep)?.('{"pattern": "x"}')).toEqual({ pattern: 'x' });
    expect(readerOf(grep)?.('{"pattern": 7}')).toBeUndefined();
  });

  it.each<[string, JsonObject]>([
    ['refers to itself', { properties: { id: { $ref: '#' } } }],
    ['names its parameters by patterns', { patternProperties: { '^a': {} } }],
    ['is too long to show', { description: 'x'.repeat(3_000) }],
    ['cannot be checked', { not: { required: ['id'] } }],
  ])('has no reader for a schema that %s', (_what, schema) => {
    expect(readerOf(schema)).toBeUndefined();
  });
});
