import { atOnce, type JsonObject } from '@app/platform';
import { createHash } from 'node:crypto';
import { readTools as toolsIn } from './tool.js';

const readTools = (listed: readonly JsonObject[]) => atOnce(toolsIn(listed));

const tool = (name: string, more: JsonObject = {}): JsonObject => ({
  name,
  description: `does ${name}`,
  inputSchema: { type: 'object' },
  ...more,
});

const names = (listed: readonly JsonObject[]): string[] =>
  readTools(listed).tools.map((read) => read.originalName);

describe(toolsIn, () => {
  it('leaves a valid definition unchanged', () => {
    const definition = tool('a.b/c d', { annotations: { readOnlyHint: true }, title: '日本 👩‍💻' });
    const { tools, remarks } = readTools([definition]);
    expect(tools[0]?.definition).toBe(definition);
    expect(remarks).toEqual([]);
  });

  it.each<[string, JsonObject]>([
    ['has no name', { description: 'nameless' }],
    ['has a name that is no text', { name: 7 }],
    ['has a name of 10 KB', tool('x'.repeat(10_240))],
    ['has a line break in its name', tool('a\nb')],
    ['has a direction override in its name', tool('a\u202eb')],
    ['has a NUL in a text', tool('nul', { description: 'a\0b' })],
    ['has half a character in a key', tool('half', { inputSchema: { '\ud800': 1 } })],
    ['has a key __proto__', JSON.parse('{"name":"p","inputSchema":{"__proto__":{"x":1}}}')],
    ['is a schema bomb', tool('deep', { inputSchema: nested(50_000) })],
    ['is larger than a quarter of a megabyte', tool('huge', { description: 'x'.repeat(300_000) })],
    ['has a schema that is no object', tool('list', { inputSchema: ['a'] })],
    ['has a schema of a text', tool('text', { inputSchema: { type: 'string' } })],
    ['has properties in a list', tool('p', { inputSchema: { type: 'object', properties: ['a'] } })],
    ['is no object', {}],
  ])('refuses a tool that %s, with a reason, and keeps the others', (_, bad) => {
    const { tools, remarks } = readTools([tool('before'), bad, tool('after')]);
    expect(tools.map((read) => read.originalName)).toEqual(['before', 'after']);
    expect(remarks).toHaveLength(1);
    expect(remarks[0]?.text).toMatch(/^is not published: /);
    expect(remarks[0]?.name.length).toBeLessThanOrEqual(100);
  });

  it('removes hidden characters from texts at any depth, with a remark', () => {
    const { tools, remarks } = readTools([
      tool('hidden', {
        description: 'Reads\u200b a\u202e file\u{e0041}\u{e0042}.\nSecond line',
        inputSchema: {
          type: 'object',
          properties: { 'pa\u200bth': { description: '\u0007bell' } },
        },
      } as JsonObject),
    ]);
    expect(tools[0]?.description).toBe('Reads a file.\nSecond line');
    expect(tools[0]?.definition['inputSchema']).toEqual({
      type: 'object',
      properties: { path: { description: 'bell' } },
    });
    expect(remarks.map(({ text }) => text)).toEqual([
      'is published without the hidden characters in its texts',
    ]);
  });

  it.each<[string, JsonObject, JsonObject, string]>([
    [
      'a type of its input schema',
      { inputSchema: { properties: { id: { type: 'string' } } } },
      { inputSchema: { type: 'object', properties: { id: { type: 'string' } } } },
      'its input schema has no "type": "object", which was added',
    ],
    ['an input schema', { inputSchema: null }, {}, 'it has no input schema'],
    ['a type for null', { inputSchema: { type: ['object', 'null'] } }, {}, 'which was added'],
    [
      'an object of no properties',
      { inputSchema: { type: 'object', properties: [] } },
      { inputSchema: { type: 'object', properties: {} } },
      '/properties',
    ],
    [
      'types that exist',
      { inputSchema: { type: 'object', properties: { a: { type: 'any' } } } },
      { inputSchema: { type: 'object', properties: { a: {} } } },
      '/properties/a/type',
    ],
    [
      'items of arrays, and properties that are required',
      {
        inputSchema: {
          type: 'object',
          properties: { a: { type: 'array' } },
          required: ['a', 'b'],
        },
      },
      {
        inputSchema: {
          type: 'object',
          properties: { a: { type: 'array', items: {} }, b: {} },
          required: ['a', 'b'],
        },
      },
      '/properties/a/items, /properties',
    ],
    [
      'an output schema of an object',
      { outputSchema: { properties: { a: { $ref: '#/nowhere' } } } },
      { outputSchema: { type: 'object', properties: { a: {} } } },
      'its output schema has no "type": "object", which was added; in its output schema',
    ],
    [
      'no output schema of a list',
      { outputSchema: { type: 'array' } },
      {},
      'its output schema was',
    ],
    ['no title that is null', { title: null }, {}, 'its title was left out'],
    [
      'hints that are true or false',
      { annotations: { readOnlyHint: 'yes', openWorldHint: false } },
      { annotations: { openWorldHint: false } },
      'its annotations.readOnlyHint was left out',
    ],
    [
      'icons with a src',
      { icons: [{ src: 'data:,', sizes: '48x48' }, { href: 'x' }] },
      { icons: [{ src: 'data:,' }] },
      'icons without a src were left out',
    ],
  ])('is repaired to have %s, with a remark', (_, listed, repaired, reason) => {
    const { tools, remarks } = readTools([tool('odd', listed)]);
    expect(tools.map(({ definition }) => definition)).toEqual([tool('odd', repaired)]);
    expect(remarks).toEqual([{ name: 'odd', text: expect.stringContaining(reason) }]);
    expect(remarks[0]?.text).toMatch(/^is published in a repaired form: /);
  });

  it('is stored again when an earlier version stored it without the repair', () => {
    const listed = tool('odd', { inputSchema: { properties: {} } });
    const before = createHash('sha256').update(JSON.stringify(listed)).digest('hex');
    expect(readTools([listed]).tools[0]?.contentHash).not.toBe(before);
  });

  it('keeps the last of two tools with the same name, with a remark', () => {
    const { tools, remarks } = readTools([tool('a'), tool('a', { description: 'the last' })]);
    expect(tools.map((read) => read.description)).toEqual(['the last']);
    expect(remarks).toEqual([{ name: 'a', text: 'is listed more than once; the last counts' }]);
  });

  it('distinguishes names that differ only in case', () => {
    expect(names([tool('Read'), tool('read')])).toEqual(['Read', 'read']);
  });
});

function nested(depth: number): JsonObject {
  let value: JsonObject = {};
  for (let i = 0; i < depth; i++) value = { properties: value };
  return value;
}
