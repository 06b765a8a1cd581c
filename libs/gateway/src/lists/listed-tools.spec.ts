import type { CatalogueSnapshot } from '@app/catalogue';
import type { JsonObject, RawJsonObject } from '@app/platform';
import { catalogueOf, serverIdOf } from '../../../../test/support/catalogue.js';
import { PAGE_BYTES } from './paging.js';
import { isSameList, listedTools, toolsPage } from './listed-tools.js';

const ours: readonly JsonObject[] = [{ name: 'ours' }];
const named = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => `tool${String(i).padStart(5, '0')}`);
const catalogue = catalogueOf([
  { name: 'big', tools: named(1_500) },
  { name: 'small', tools: ['only'] },
]);

/** The same tools after a status change of one server. */
function withStatus(
  snapshot: CatalogueSnapshot,
  name: string,
  status: 'DEGRADED' | 'DISCONNECTING' | 'DISCONNECTED',
): CatalogueSnapshot {
  const server = snapshot.servers.get(serverIdOf(name));
  if (!server) throw new Error(`no server ${name}`);
  const changed = { ...server, status };
  return {
    ...snapshot,
    servers: new Map(snapshot.servers).set(server.id, changed),
    serversByName: new Map(snapshot.serversByName).set(name, changed),
  };
}

const namesOn = (page: RawJsonObject): unknown[] =>
  (page.get('tools') as JsonObject[]).map(({ name }) => name);

describe(listedTools.name, () => {
  it('returns the same array while the tools are the same, whatever the status of their servers', () => {
    const degraded = withStatus(catalogue, 'small', 'DEGRADED');
    expect(listedTools(degraded)).toBe(listedTools(catalogue));
    const gone = withStatus(catalogue, 'small', 'DISCONNECTED');
    expect(listedTools(withStatus(gone, 'big', 'DEGRADED'))).toBe(listedTools(gone));
  });

  it.each(['DISCONNECTING', 'DISCONNECTED'] as const)(
    'excludes the tools of a server that is %s',
    (status) => {
      const listed = listedTools(withStatus(catalogue, 'small', status));
      expect(listed).toHaveLength(1_500);
      expect(listed.every(({ serverName }) => serverName === 'big')).toBe(true);
    },
  );
});

describe(toolsPage.name, () => {
  const tools = listedTools(catalogue);

  it('is serialised once', () => {
    const first = toolsPage(tools, undefined, ours);
    expect(toolsPage(tools, undefined, ours)).toBe(first);
    const cursor = first.get('nextCursor');
    expect(toolsPage(tools, cursor, ours)).toBe(toolsPage(tools, cursor, ours));
  });

  it('contains every tool once, with own tools first on the first page', () => {
    const first = toolsPage(tools, undefined, ours);
    const second = toolsPage(tools, first.get('nextCursor'), ours);
    expect(namesOn(first)[0]).toBe('ours');
    expect(second.has('nextCursor')).toBe(false);
    const names = [...namesOn(first), ...namesOn(second)];
    expect(new Set(names).size).toBe(1_502);
    expect(names).toHaveLength(1_502);
  });

  it('continues after any name, also inside a page', () => {
    const cursor = Buffer.from('after:big.tool01234').toString('base64url');
    expect(namesOn(toolsPage(tools, cursor, ours))[0]).toBe('big__tool01235');
  });

  it('ends a page before it exceeds the byte limit', () => {
    const description = 'x'.repeat(10_000);
    const large = named(500).map((name) => ({ name, description, inputSchema: {} }));
    const list = listedTools(catalogueOf([{ name: 'large', tools: large }]));
    const names: unknown[] = [];
    let cursor: JsonObject[string] | undefined;
    do {
      const page = toolsPage(list, cursor, ours);
      expect(page.bytes.length).toBeLessThan(PAGE_BYTES + 100);
      expect(toolsPage(list, cursor, ours)).toBe(page);
      names.push(...namesOn(page));
      cursor = page.get('nextCursor');
    } while (cursor !== undefined);
    expect(names).toHaveLength(501);
  });
});

describe(isSameList.name, () => {
  const tools = listedTools(catalogue);

  it('ignores changes that clients cannot see, such as skills', () => {
    expect(
      isSameList(
        tools,
        tools.map((tool) => ({ ...tool, skillIds: ['s'] })),
      ),
    ).toBe(true);
  });

  it.each([
    ['another definition', { contentHash: 'other' }],
    ['another name', { name: 'other' }],
  ])('detects %s of a tool', (_what, change) => {
    expect(
      isSameList(
        tools,
        tools.map((tool, i) => (i === 7 ? { ...tool, ...change } : tool)),
      ),
    ).toBe(false);
    expect(isSameList(tools, tools.slice(1))).toBe(false);
  });
});
