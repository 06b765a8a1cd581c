import type { CatalogueSnapshot } from '@app/discovery';
import type { JsonObject, WrittenObject } from '@app/platform';
import { catalogueOf, serverIdOf } from '../../../test/support/catalogue.js';
import { listedTools, toolsPage } from './listed-tools.js';

const ours: readonly JsonObject[] = [{ name: 'ours' }];
const named = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => `tool${String(i).padStart(5, '0')}`);
const catalogue = catalogueOf([
  { name: 'big', tools: named(1_500) },
  { name: 'small', tools: ['only'] },
]);

/** The same tools after a change of one server. */
function withStatus(
  snapshot: CatalogueSnapshot,
  name: string,
  status: 'DEGRADED' | 'DISCONNECTED',
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

const namesOn = (page: WrittenObject): unknown[] =>
  (page.get('tools') as JsonObject[]).map(({ name }) => name);

describe(listedTools.name, () => {
  it('is the same array as long as the tools are the same, whatever happens to their servers', () => {
    const degraded = withStatus(catalogue, 'small', 'DEGRADED');
    expect(listedTools(degraded)).toBe(listedTools(catalogue));
    const gone = withStatus(catalogue, 'small', 'DISCONNECTED');
    expect(listedTools(withStatus(gone, 'big', 'DEGRADED'))).toBe(listedTools(gone));
  });

  it('leaves out the tools of a server that nobody wants connected', () => {
    const listed = listedTools(withStatus(catalogue, 'small', 'DISCONNECTED'));
    expect(listed).toHaveLength(1_500);
    expect(listed.every(({ serverName }) => serverName === 'big')).toBe(true);
  });
});

describe(toolsPage.name, () => {
  const tools = listedTools(catalogue);

  it('is written once', () => {
    const first = toolsPage(tools, undefined, ours);
    expect(toolsPage(tools, undefined, ours)).toBe(first);
    const cursor = first.get('nextCursor');
    expect(toolsPage(tools, cursor, ours)).toBe(toolsPage(tools, cursor, ours));
  });

  it('has every tool once, and ours at the front of the first', () => {
    const first = toolsPage(tools, undefined, ours);
    const second = toolsPage(tools, first.get('nextCursor'), ours);
    expect(namesOn(first)[0]).toBe('ours');
    expect(second.has('nextCursor')).toBe(false);
    const names = [...namesOn(first), ...namesOn(second)];
    expect(new Set(names).size).toBe(1_502);
    expect(names).toHaveLength(1_502);
  });

  it('goes on behind any name, also one where no page begins', () => {
    const cursor = Buffer.from('after:big.tool01234').toString('base64url');
    expect(namesOn(toolsPage(tools, cursor, ours))[0]).toBe('big__tool01235');
  });
});
