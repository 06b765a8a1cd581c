import { MAX_WIRE_NAME, wireName } from './names.js';
import fc from 'fast-check';

const server = fc.stringMatching(/^[a-z][a-z0-9_-]{0,20}$/);
const tool = fc.oneof(
  fc.stringMatching(/^[a-zA-Z0-9_.-]{0,60}$/),
  fc.stringMatching(/^_{0,3}[a-c]{0,2}_{0,3}$/),
  fc.string({ unit: 'grapheme', maxLength: 80 }),
);
/** Few letters, so that different pairs often concatenate to the same text. */
const confusable = fc.tuple(fc.stringMatching(/^a[a_]{0,5}$/), fc.stringMatching(/^[a_]{0,6}$/));

describe(wireName.name, () => {
  it('joins server and tool with two underscores', () => {
    expect(wireName('github', 'create_issue')).toBe('github__create_issue');
  });

  it('keeps a name of 48 characters, and shortens one of 49 with a hash', () => {
    const seam = 'server__';
    const tool = 'x'.repeat(48 - seam.length);
    expect(MAX_WIRE_NAME).toBe(48);
    expect(wireName('server', tool)).toBe(`${seam}${tool}`);
    const shortened = wireName('server', `${tool}x`);
    expect(shortened).toMatch(/^server__x{25}__[a-z2-7]{13}$/);
    expect(shortened).toHaveLength(48);
  });

  it('gives names that every client accepts', () => {
    fc.assert(
      fc.property(server, tool, (s, t) => {
        expect(wireName(s, t)).toMatch(/^[a-zA-Z0-9_-]{1,48}$/);
      }),
    );
  });

  it('gives different tools different names', () => {
    const owners = new Map<string, string>();
    fc.assert(
      fc.property(fc.oneof(confusable, fc.tuple(server, tool)), ([s, t]) => {
        const owner = JSON.stringify([s, t]);
        const name = wireName(s, t);
        expect(owners.get(name) ?? owner).toBe(owner);
        owners.set(name, owner);
      }),
      { numRuns: 20_000 },
    );
  });

  it('gives a million systematic pairs different names', () => {
    const names = new Set<string>();
    for (let s = 0; s < 1_000; s++) {
      for (let t = 0; t < 1_000; t++) {
        names.add(
          wireName(
            `s${s.toString(3).replaceAll('2', '_')}`,
            `${t.toString(3).replaceAll('2', '_')}`,
          ),
        );
      }
    }
    expect(names.size).toBe(1_000_000);
  });

  it.each([
    ['azure', 'communication'],
    ['server', 'x__abcdefghijklm'],
    ['google-drive', 'authorization'],
  ])('keeps the names %s and %s, which only look hashed', (s, t) => {
    expect(wireName(s, t)).toBe(`${s}__${t}`);
  });

  it('gives no tool the hashed name of another', () => {
    fc.assert(
      fc.property(server, fc.constantFrom('поиск', 'a.b', 'x'.repeat(60)), (s, t) => {
        const hashed = wireName(s, t);
        const seam = hashed.indexOf('__');
        expect(wireName(hashed.slice(0, seam), hashed.slice(seam + 2))).not.toBe(hashed);
      }),
    );
  });

  it.each([
    ['a name that is too long', 'server', 'x'.repeat(60)],
    ['a dot', 'server', 'api.v2.create'],
    ['another script', 'server', 'поиск'],
    ['a server name that holds the seam', 'my__server', 'tool'],
    ['a server name that ends in half a seam', 'server_', 'tool'],
    ['no tool name at all', 'server', ''],
    ['the name of an own tool', 'mcp', 'proxy__aggregator__query'],
  ])('hashes %s', (_, s, t) => {
    expect(wireName(s, t)).toMatch(/__[a-z2-7]{13}$/);
    expect(wireName(s, t).length).toBeLessThanOrEqual(MAX_WIRE_NAME);
  });
});
