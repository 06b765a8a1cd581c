import type { JsonObject } from '@app/platform';
import { diffTools, readTools } from './tool.js';

const tool = (name: string, more: JsonObject = {}): JsonObject => ({
  name,
  description: `does ${name}`,
  inputSchema: { type: 'object' },
  ...more,
});

const names = (listed: readonly JsonObject[]): string[] =>
  readTools(listed).tools.map((read) => read.originalName);

describe(readTools, () => {
  it('leaves a good definition as it is', () => {
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
  ])('refuses a tool that %s, says why, and takes the others', (_, bad) => {
    const { tools, remarks } = readTools([tool('before'), bad, tool('after')]);
    expect(tools.map((read) => read.originalName)).toEqual(['before', 'after']);
    expect(remarks).toHaveLength(1);
    expect(remarks[0]?.text).toMatch(/^is not published: /);
    expect(remarks[0]?.name.length).toBeLessThanOrEqual(100);
  });

  it('takes hidden characters out of texts, wherever they are, and says so', () => {
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

  it('lets the last of two with one name count, and says so', () => {
    const { tools, remarks } = readTools([tool('a'), tool('a', { description: 'the last' })]);
    expect(tools.map((read) => read.description)).toEqual(['the last']);
    expect(remarks).toEqual([{ name: 'a', text: 'is listed more than once; the last counts' }]);
  });

  it('keeps names apart that differ in case only', () => {
    expect(names([tool('Read'), tool('read')])).toEqual(['Read', 'read']);
  });
});

describe(diffTools, () => {
  const read = (...listed: JsonObject[]) => readTools(listed).tools;
  const stored = read(tool('same'), tool('changes'), tool('goes')).map((one, i) => ({
    id: i + 1,
    originalName: one.originalName,
    contentHash: one.contentHash,
  }));

  it('finds what came, changed and went', () => {
    const diff = diffTools(
      stored,
      read(tool('same'), tool('changes', { description: 'new' }), tool('comes')),
    );
    expect(diff.added.map((one) => one.originalName)).toEqual(['comes']);
    expect(diff.changed.map((one) => one.id)).toEqual([2]);
    expect(diff.removed).toEqual([3]);
  });

  it('is empty when the server lists the same again', () => {
    expect(diffTools(stored, read(tool('same'), tool('changes'), tool('goes')))).toEqual({
      added: [],
      changed: [],
      removed: [],
    });
  });
});

function nested(depth: number): JsonObject {
  let value: JsonObject = {};
  for (let i = 0; i < depth; i++) value = { properties: value };
  return value;
}
