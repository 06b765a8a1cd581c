import {
  ServerRegistered,
  ServerRemoved,
  ServerStatusChanged,
  ServerUpdated,
  ServerWritten,
  ToolsClassified,
  ToolsDiscovered,
  type WrittenServer,
} from '@app/events';
import type { Replicas, Signals } from '@app/platform';
import type { Catalogue } from '../catalogue.js';
import type { Stale } from '../catalogue-change.js';
import { RefreshCatalogueOnChanges } from './refresh-catalogue.on-changes.js';

describe(RefreshCatalogueOnChanges.name, () => {
  let read: Stale[];
  let told: string[];
  let held: Map<string, unknown>;
  let listener: RefreshCatalogueOnChanges;

  beforeEach(() => {
    read = [];
    told = [];
    held = new Map();
    const catalogue = {
      current: { servers: held },
      refresh: (stale: Stale) => Promise.resolve(void read.push(stale)),
    };
    const replicas = {
      tell: (topic: string, ids: readonly string[] = []) =>
        Promise.resolve(void told.push([topic, ...ids].join(' '))),
    };
    listener = new RefreshCatalogueOnChanges(
      catalogue as unknown as Catalogue,
      replicas as unknown as Replicas,
      {} as Signals,
    );
  });

  it('reads the tools that discovery wrote, and notifies the replicas', async () => {
    await listener.handle(new ToolsDiscovered('a', [1], [], []));
    await listener.handle(new ToolsDiscovered('b', [], [2], []));
    await listener.handle(new ToolsDiscovered('c', [], [], [3]));
    expect(read).toEqual([
      { servers: ['a'], tools: [1] },
      { servers: ['b'], tools: [2] },
      { servers: ['c'], tools: [3] },
    ]);
    expect(told).toEqual(['tools a', 'tools b', 'tools c']);
  });

  it('keeps the tools when discovery found no change', async () => {
    await listener.handle(new ToolsDiscovered('a', [], [], []));
    expect(read).toEqual([{ servers: ['a'], tools: [] }]);
    expect(told).toEqual(['servers a']);
  });

  it('does not read a server that it shows after discovery', async () => {
    held.set('a', {});
    await listener.handle(new ToolsDiscovered('a', [1], [], []));
    expect(read).toEqual([{ tools: [1] }]);
  });

  it('does not read a server whose row the event carries', async () => {
    const written: WrittenServer = {
      id: 'a',
      name: 'everything',
      description: null,
      status: 'CONNECTED',
      errorMessage: null,
      listFailures: {},
      trust: null,
      credentials: 'shared',
      registeredAt: new Date(0),
      version: 2,
    };
    await listener.handle(new ServerRegistered('a', written));
    await listener.handle(new ServerStatusChanged('a', 'CONNECTING', 'CONNECTED', written));
    expect(read).toEqual([{ written }, { written }]);
    expect(told).toEqual(['servers a', 'servers a']);
  });

  it('reads only one server after a status change or removal', async () => {
    await listener.handle(new ServerStatusChanged('a', 'CONNECTING', 'CONNECTED'));
    await listener.handle(new ServerRemoved('a', 'everything'));
    expect(read).toEqual([{ servers: ['a'] }, { servers: ['a'] }]);
  });

  it('reads the tools of a renamed server', async () => {
    await listener.handle(new ServerUpdated('a', ['name', 'description']));
    await listener.handle(new ServerUpdated('b', ['description']));
    expect(read).toEqual([{ servers: ['a'], toolsOf: ['a'] }, { servers: ['b'] }]);
    expect(told).toEqual(['tools a', 'servers b']);
  });

  it('reads a server with its tools that another process wrote, without a notification', async () => {
    await listener.handle(new ServerWritten('a'));
    expect(read).toEqual([{ servers: ['a'], toolsOf: ['a'] }]);
    expect(told).toEqual([]);
  });

  it('reads classified tools, including own tools, which the replicas are told by id', async () => {
    await listener.handle(new ToolsClassified([], [1]));
    expect(read).toEqual([{ tools: [1] }]);
    expect(told).toEqual(['tools.own 1']);
  });
});
