import { atOnce } from '@app/platform';
import fc from 'fast-check';
import { catalogueTool } from '../../../../test/support/catalogue.js';
import type { AllTools, CatalogueTool, ToolIndexes } from '../catalogue-snapshot.js';
import { indexTools, reindexing } from './index-tools.js';

const tool = fc
  .record({
    id: fc.integer({ min: 1, max: 40 }),
    server: fc.constantFrom('', 'a', 'b', 'c'),
    original: fc.constantFrom('read', 'write', 'list', 'send'),
    isWithheld: fc.boolean(),
  })
  .map(({ id, server, original, isWithheld }) =>
    catalogueTool({
      id,
      // Names are unique, as in the table.
      name: `${server}.${original}_${id}`,
      originalName: original,
      serverId: server,
      serverName: server,
      isExternal: server !== '',
      withheld: isWithheld ? { hash: 'x', isNew: true, fields: [], findings: [] } : null,
    }),
  );
const tools = fc.uniqueArray(tool, { selector: ({ id }) => id, maxLength: 30 });

const plain = (indexes: ToolIndexes): unknown => ({
  tools: indexes.tools,
  byId: new Map(indexes.toolsById),
  byName: new Map(indexes.toolsByName),
  byServer: new Map(indexes.toolsByServer),
  byOriginalName: new Map(indexes.toolsByOriginalName),
});

function all({ tools: offered, withheld }: AllTools): CatalogueTool[] {
  return [...offered, ...withheld.tools];
}

describe(reindexing, () => {
  it('gives after any changes what indexing all tools gives', () => {
    fc.assert(
      fc.property(
        tools,
        fc.array(fc.tuple(tools, fc.array(fc.nat())), { maxLength: 4 }),
        (first, changes) => {
          let held = indexTools(first);
          for (const [added, others] of changes) {
            const shown = all(held);
            const ids = new Set(added.map(({ id }) => id));
            const chosen = new Set(others.map((n) => shown[n % Math.max(shown.length, 1)]));
            const removed = shown.filter((one) => ids.has(one.id) || chosen.has(one));
            const next = atOnce(reindexing(held, removed, added));
            const kept = shown.filter((one) => !removed.includes(one));
            const expected = indexTools([...kept, ...added]);
            expect(plain(next)).toEqual(plain(expected));
            expect(plain(next.withheld)).toEqual(plain(expected.withheld));
            held = next;
          }
        },
      ),
    );
  });

  it('sorts more tools than one chunk', () => {
    const many = Array.from({ length: 2_500 }, (_, id) =>
      catalogueTool({ id, name: `s.${(id * 7_919) % 2_500}`, originalName: `${id}` }),
    );
    const names = indexTools(many).tools.map(({ name }) => name);
    expect(names).toEqual(many.map(({ name }) => name).sort());
  });
});
