import { ServerRemoved, ServerStatusChanged, ToolsClassified, ToolsDiscovered } from '@app/events';
import { Replicas } from '@app/platform';
import { Catalogue } from './catalogue.js';
import { RefreshCatalogueOnChanges } from './refresh-catalogue.on-changes.js';

describe(RefreshCatalogueOnChanges.name, () => {
  let read: string[];
  let told: string[];
  let listener: RefreshCatalogueOnChanges;

  beforeEach(() => {
    read = [];
    told = [];
    const catalogue = {
      reloadServers: () => Promise.resolve(void read.push('servers')),
      reload: (ids?: readonly string[]) =>
        Promise.resolve(void read.push(`tools of ${ids?.join() ?? 'all'}`)),
    };
    const replicas = {
      tell: (topic: string, ids: readonly string[] = []) =>
        Promise.resolve(void told.push([topic, ...ids].join(' '))),
    };
    listener = new RefreshCatalogueOnChanges(
      catalogue as Catalogue,
      replicas as unknown as Replicas,
    );
  });

  it('reads the tools of a server anew when discovery wrote some', async () => {
    await listener.handle(new ToolsDiscovered('a', [1], [], []));
    await listener.handle(new ToolsDiscovered('b', [], [2], []));
    await listener.handle(new ToolsDiscovered('c', [], [], [3]));
    expect(read).toEqual(['tools of a', 'tools of b', 'tools of c']);
    expect(told).toEqual(['tools a', 'tools b', 'tools c']);
  });

  it('leaves the tools alone when discovery found what was known', async () => {
    await listener.handle(new ToolsDiscovered('a', [], [], []));
    expect(read).toEqual(['servers']);
    expect(told).toEqual(['servers']);
  });

  it('reads servers alone when one changed its state, and tools when one is gone', async () => {
    await listener.handle(new ServerStatusChanged('a', 'CONNECTING', 'CONNECTED'));
    await listener.handle(new ServerRemoved('a', 'everything'));
    expect(read).toEqual(['servers', 'tools of a']);
  });

  it('reads everything when tools of the aggregator itself were classified', async () => {
    await listener.handle(new ToolsClassified([], [1]));
    expect(read).toEqual(['tools of all']);
  });
});
