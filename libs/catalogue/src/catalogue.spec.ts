import { CqrsModule, QueryBus } from '@nestjs/cqrs';
import { Test } from '@nestjs/testing';
import { CatalogueReplaced, type WrittenServer } from '@app/events';
import { Clock, FailPoints, Signals } from '@app/platform';
import type { ListServers, ServerStatus } from '@app/registry';
import { catalogueTool } from '../../../test/support/catalogue.js';
import { FakeClock } from '../../../test/support/fake-clock.js';
import { Catalogue } from './catalogue.js';
import type { CatalogueTool } from './catalogue-snapshot.js';
import { ToolStore } from './tool.store.js';

interface ServerRow {
  readonly id: string;
  readonly name: string;
  readonly status: ServerStatus;
  readonly version: number;
}

const server = (id: string, status: ServerStatus = 'CONNECTED', name = `${id}s`): ServerRow => ({
  id,
  name,
  status,
  version: 1,
});

const tool = (id: number, serverId: string, more: Partial<CatalogueTool> = {}): CatalogueTool =>
  catalogueTool({
    id,
    name: `${serverId}s.tool_${id}`,
    originalName: `tool_${id}`,
    serverId,
    serverName: `${serverId}s`,
    ...more,
  });

describe(Catalogue.name, () => {
  let servers: ServerRow[];
  let tools: CatalogueTool[];
  let read: unknown[];
  let known: (CatalogueTool | undefined)[];
  let told: CatalogueReplaced[];
  let beforeRead: () => Promise<void>;
  let clock: FakeClock;
  let signals: Signals;
  let catalogue: Catalogue;

  beforeEach(async () => {
    servers = [server('a'), server('b')];
    tools = [tool(1, 'a'), tool(2, 'a'), tool(3, 'b')];
    read = [];
    told = [];
    beforeRead = () => Promise.resolve();
    clock = new FakeClock();
    const queries = {
      execute: async ({ filter }: ListServers) => {
        read.push(filter.ids ?? 'all servers');
        const rows = servers.filter(({ id }) => filter.ids?.includes(id) !== false);
        await beforeRead();
        return rows;
      },
    };
    const store: Pick<ToolStore, 'read'> = {
      read: (stale, held) => {
        known = tools.map(({ id }) => held?.get(id));
        const ids = [...(stale.toolsOf === 'all' ? ['all tools'] : stale.toolsOf), ...stale.tools];
        read.push(ids);
        return Promise.resolve(
          tools.filter(
            ({ id, serverId }) =>
              stale.toolsOf === 'all' || stale.toolsOf.has(serverId) || stale.tools.has(id),
          ),
        );
      },
    };
    const module = await Test.createTestingModule({
      imports: [CqrsModule.forRoot()],
      providers: [
        Catalogue,
        Signals,
        { provide: ToolStore, useValue: store },
        { provide: FailPoints, useValue: new FailPoints(undefined) },
        { provide: Clock, useValue: clock },
      ],
    })
      .overrideProvider(QueryBus)
      .useValue(queries)
      .compile();
    signals = module.get(Signals);
    catalogue = module.get(Catalogue);
    await catalogue.reload();
    read = [];
    signals.hear(CatalogueReplaced, (change) => told.push(change));
  });

  const names = (): string[] => catalogue.current.tools.map(({ name }) => name);

  it('reads no definition again that it holds, of a withheld tool either', async () => {
    const withheld = { hash: 'h', isNew: true, fields: [], findings: [] };
    tools = [tool(1, 'a'), tool(2, 'a', { withheld })];
    await catalogue.reload();
    told = [];
    await catalogue.refresh({ servers: ['a'], toolsOf: ['a'] });
    expect(known).toEqual(tools);
    expect(told).toEqual([]);
  });

  it('reads only the rows that were written', async () => {
    servers = [server('a', 'DISCONNECTED'), server('b', 'DISCONNECTED')];
    tools = [tool(1, 'a', { contentHash: 'new' }), tool(2, 'a'), tool(3, 'b')];
    await catalogue.refresh({ servers: ['a'], tools: [1] });
    expect(read).toEqual([['a'], [1]]);
    expect([...catalogue.current.servers.values()].map(({ status }) => status)).toEqual([
      'DISCONNECTED',
      'CONNECTED',
    ]);
    expect(told).toEqual([new CatalogueReplaced(['a'], [1], [], [], ['a'])]);
  });

  const written = (id: string, version: number, status: ServerStatus): WrittenServer => ({
    ...server(id, status),
    description: null,
    errorMessage: null,
    listFailures: {},
    trust: null,
    credentials: 'shared',
    registeredAt: new Date(0),
    version,
  });
  const statusOf = (id: string): ServerStatus | undefined =>
    catalogue.current.servers.get(id)?.status;

  it('shows a row that was written without reading it', async () => {
    await catalogue.refresh({ written: written('a', 2, 'ERROR') });
    await catalogue.refresh({ written: written('new', 1, 'CONNECTING') });
    expect(read).toEqual([]);
    expect([statusOf('a'), statusOf('b'), statusOf('new')]).toEqual([
      'ERROR',
      'CONNECTED',
      'CONNECTING',
    ]);
    expect(told.map(({ serverIds }) => serverIds)).toEqual([['a'], ['new']]);
  });

  it('ignores a written row when it shows a later one, told earlier or read', async () => {
    await Promise.all([
      catalogue.refresh({ written: written('a', 4, 'ERROR') }),
      catalogue.refresh({ written: written('a', 3, 'DEGRADED') }),
    ]);
    await catalogue.refresh({ written: written('a', 2, 'DEGRADED') });
    expect(statusOf('a')).toBe('ERROR');
    servers = [{ ...server('a', 'DISCONNECTED'), version: 6 }, server('b')];
    await catalogue.refresh({ servers: ['a'] });
    await catalogue.refresh({ written: written('a', 5, 'CONNECTED') });
    expect(statusOf('a')).toBe('DISCONNECTED');
  });

  it('remembers the version of a read row that looks like the one shown', async () => {
    servers = [{ ...server('a'), version: 6 }, server('b')];
    await catalogue.refresh({ servers: ['a'] });
    await catalogue.refresh({ written: written('a', 5, 'ERROR') });
    expect(statusOf('a')).toBe('CONNECTED');
  });

  it('reads a server that it does not show, which may have been removed', async () => {
    servers = [server('b')];
    await catalogue.refresh({ servers: ['a'] });
    await catalogue.refresh({ written: written('a', 7, 'CONNECTED') });
    expect(read).toEqual([['a'], ['a']]);
    expect(statusOf('a')).toBeUndefined();
  });

  it('combines concurrent requests into one read', async () => {
    await Promise.all([
      catalogue.refresh({ servers: ['a'] }),
      catalogue.refresh({ servers: ['b'], tools: [3] }),
    ]);
    expect(read).toEqual([['a', 'b'], [3]]);
  });

  it('drops a removed server with its tools', async () => {
    servers = [server('b')];
    await catalogue.refresh({ servers: ['a'] });
    expect(read).toEqual([['a']]);
    expect(names()).toEqual(['bs.tool_3']);
    expect(told).toEqual([new CatalogueReplaced(['a'], [], [], [1, 2])]);
  });

  it('counts the tools of the snapshot', async () => {
    tools = [tool(1, 'a'), tool(3, 'b')];
    await catalogue.refresh({ toolsOf: ['a'] });
    expect(catalogue.current.servers.get('a')?.toolCount).toBe(1);
  });

  it('publishes no event when nothing visible changed', async () => {
    const before = catalogue.current;
    await catalogue.refresh({ servers: ['a'], toolsOf: ['a'] });
    expect(told).toEqual([]);
    expect(catalogue.current).toBe(before);
  });

  it('reports changed skills apart from changed definitions', async () => {
    tools = [tool(1, 'a', { skillIds: ['files'] }), tool(2, 'a'), tool(3, 'b')];
    await catalogue.refresh({ tools: [1] });
    expect(told).toEqual([new CatalogueReplaced([], [], [1], [])]);
  });

  it('resolves a refresh after its listeners have finished', async () => {
    const done: string[] = [];
    let end = (): void => undefined;
    signals.hear(CatalogueReplaced, async () => {
      await new Promise<void>((resolve) => {
        end = resolve;
      });
      done.push('listener');
    });
    servers = [server('a', 'ERROR'), server('b')];
    const refreshed = catalogue.refresh({ servers: ['a'] }).then(() => done.push('refresh'));
    while (told.length === 0) await Promise.resolve();
    expect(catalogue.current.servers.get('a')?.status).toBe('ERROR');
    end();
    await refreshed;
    expect(done).toEqual(['listener', 'refresh']);
  });

  it('never replaces a later state by an earlier read', async () => {
    let go = (): void => undefined;
    beforeRead = () =>
      new Promise((resolve) => {
        go = resolve;
      });
    const early = catalogue.refresh({ servers: ['a'] });
    while (read.length === 0) await Promise.resolve();
    servers = [server('a', 'ERROR'), server('b')];
    const late = catalogue.refresh({ servers: ['a'] });
    beforeRead = () => Promise.resolve();
    go();
    await Promise.all([early, late]);
    expect(catalogue.current.servers.get('a')?.status).toBe('ERROR');
  });

  it('continues after a failed read', async () => {
    beforeRead = () => Promise.reject(new Error('no database'));
    await expect(catalogue.refresh({ servers: ['a'] })).rejects.toThrow('no database');
    beforeRead = () => Promise.resolve();
    servers = [server('a', 'ERROR'), server('b')];
    await catalogue.refresh({ servers: ['a'] });
    expect(catalogue.current.servers.get('a')?.status).toBe('ERROR');
  });

  it('reads again what it could not read, with growing waits and without a request', async () => {
    beforeRead = () => Promise.reject(new Error('planned'));
    tools = tools.map((row) => (row.id === 1 ? { ...row, contentHash: 'new' } : row));
    await expect(catalogue.refresh({ servers: ['a'], tools: [1] })).rejects.toThrow('planned');
    const waits: (number | undefined)[] = [];
    for (let i = 0; i < 3; i++) {
      waits.push(clock.nextWakeMs);
      await clock.advance(clock.nextWakeMs ?? 0);
    }
    expect(waits).toEqual([250, 500, 1_000]);
    beforeRead = () => Promise.resolve();
    await clock.advance(60_000);
    expect(catalogue.current.toolsById.get(1)?.contentHash).toBe('new');
    expect(clock.nextWakeMs).toBeUndefined();
  });

  it('reads what it could not read together with the next rows', async () => {
    beforeRead = () => Promise.reject(new Error('planned'));
    servers = [server('a', 'ERROR'), server('b')];
    await expect(catalogue.refresh({ servers: ['a'] })).rejects.toThrow('planned');
    beforeRead = () => Promise.resolve();
    await catalogue.refresh({ servers: ['b'] });
    expect(catalogue.current.servers.get('a')?.status).toBe('ERROR');
    expect(clock.nextWakeMs).toBeUndefined();
  });
});
