import { CommandBus } from '@nestjs/cqrs';
import { Database } from '@app/platform';
import { SessionPool } from '@app/sessions';
import { Api } from '../../../../test/support/api.js';
import { startApp, type TestApp } from '../../../../test/support/app.js';
import { eventually } from '../../../../test/support/eventually.js';
import { ListingServer } from '../../../../test/support/listing-server.js';
import { createDatabase } from '../../../../test/support/postgres.js';
import { DiscoverTools } from '../discover-tools.command.js';

const LIMIT = 300;
const SERVERS = 8;
const TOOLS = 200;
const ROUNDS = 3;

describe.each([
  ['PostgreSQL, with two replicas,', true],
  ['PGlite', false],
])('the limit on tools over all servers on %s', (_, isShared) => {
  const upstream = new ListingServer();
  const ids = new Map<string, string>();
  let replicas: TestApp[];
  let api: Api;

  beforeAll(async () => {
    await upstream.start();
    const settings = {
      DATABASE_URL: isShared ? await createDatabase() : '',
      MCP_AGGREGATOR_ALLOW_INSECURE_HTTP: 'true',
      MCP_AGGREGATOR_MAX_TOOLS: String(LIMIT),
    };
    replicas = [await startApp(settings)];
    if (isShared) replicas.push(await startApp(settings));
    api = new Api(leader());
  });
  afterAll(async () => {
    for (const replica of replicas.toReversed()) await replica.close();
    await upstream.stop();
  });

  const leader = (): TestApp => {
    const [first] = replicas;
    if (!first) throw new Error('no service has started');
    return first;
  };
  const list = (path: string, count: number, from = 0): unknown =>
    upstream.tools.set(
      path,
      Array.from({ length: count }, (_tool, i) => `tool_${from + i}`),
    );
  const rows = async (): Promise<{ tools: number; counted: number }> => {
    const { direct } = leader().app.get(Database, { strict: false });
    const [row] = await direct.query<{ tools: number; counted: number }[]>(
      `SELECT (SELECT count(*)::int FROM mcp.tools WHERE is_external) AS tools,
              (SELECT sum(tool_count)::int FROM mcp.external_servers) AS counted`,
    );
    return row ?? { tools: -1, counted: -1 };
  };
  const view = async (path: string) =>
    (await api.call('GET', `/servers/${ids.get(path)}`)).body as {
      tool_count: number;
      warnings: string[];
    };
  /** Counts of tools during the work and after it. */
  const countsDuring = async (work: Promise<unknown>): Promise<number[]> => {
    let isRunning = true;
    const done = work.finally(() => (isRunning = false));
    const counts: number[] = [];
    while (isRunning) counts.push((await rows()).tools);
    await done;
    return [...counts, (await rows()).tools];
  };

  it('holds while servers are discovered for the first time at the same moment', async () => {
    const paths = Array.from({ length: SERVERS }, (_server, i) => `server-${i}`);
    const registered = async (): Promise<void> => {
      await Promise.all(
        paths.map(async (path) => {
          list(path, TOOLS);
          const connection_config = { base_url: upstream.url(path) };
          ids.set(
            path,
            await api.register({ name: path, transport_type: 'HTTP', connection_config }),
          );
        }),
      );
      await eventually(async () => {
        const phases = paths.map((path) => api.call('GET', `/servers/${ids.get(path)}/discovery`));
        for (const { body } of await Promise.all(phases)) expect(body['phase']).toBe('DONE');
      });
    };
    expect(Math.max(...(await countsDuring(registered())))).toBe(LIMIT);
    expect(await rows()).toEqual({ tools: LIMIT, counted: LIMIT });
  });

  it('is told to the owner of each server that it left tools out of', async () => {
    await eventually(async () => {
      const views = await Promise.all([...ids.keys()].map(view));
      const short = views.filter(({ tool_count }) => tool_count < TOOLS);
      expect(short.length).toBe(SERVERS - 1);
      for (const { warnings } of short) {
        expect(warnings).toEqual([expect.stringContaining('MCP_AGGREGATOR_MAX_TOOLS, over all')]);
      }
    });
  });

  it('holds while every replica discovers every server at the same moment', async () => {
    const pools = replicas.map(({ app }) => app.get(SessionPool, { strict: false }));
    const opened = [...ids].flatMap(([name, id]) =>
      pools.map((pool) => pool.acquire({ id, name, status: 'CONNECTED' }, 60_000)),
    );
    await Promise.all(opened);
    for (let round = 1; round <= ROUNDS; round++) {
      for (const path of ids.keys()) list(path, TOOLS, round * 1_000);
      const discoveries = [...ids.values()].flatMap((id) =>
        replicas.map(({ app }) => app.get(CommandBus).execute(new DiscoverTools(id))),
      );
      const counts = await countsDuring(Promise.allSettled(discoveries));
      expect(Math.max(...counts)).toBeLessThanOrEqual(LIMIT);
    }
    // Tools that a later discovery removed leave room, which is filled without a request.
    await eventually(async () => expect(await rows()).toEqual({ tools: LIMIT, counted: LIMIT }));
  });

  it('publishes what was left out when a server is removed, at whichever replica', async () => {
    const full = [...ids.keys()];
    const views = await Promise.all(full.map(view));
    const [largest = ''] = full.toSorted(
      (a, b) =>
        (views[full.indexOf(b)]?.tool_count ?? 0) - (views[full.indexOf(a)]?.tool_count ?? 0),
    );
    const other = new Api(replicas.at(-1) ?? leader());
    expect((await other.call('DELETE', `/servers/${ids.get(largest)}`)).status).toBe(204);
    ids.delete(largest);
    await eventually(async () => expect(await rows()).toEqual({ tools: LIMIT, counted: LIMIT }));
    await eventually(async () => {
      const shown = await Promise.all([...ids.keys()].map(view));
      expect(shown.reduce((sum, { tool_count }) => sum + tool_count, 0)).toBe(LIMIT);
    });
  });

  it('publishes what was left out when other servers list fewer tools, without a warning left', async () => {
    for (const path of ids.keys()) list(path, 20);
    const commands = leader().app.get(CommandBus);
    await Promise.all([...ids.values()].map((id) => commands.execute(new DiscoverTools(id))));
    await eventually(async () => {
      for (const shown of await Promise.all([...ids.keys()].map(view))) {
        expect(shown).toMatchObject({ tool_count: 20, warnings: [] });
      }
    });
  });

  it('keeps the room of a disconnected server, whose tools return with it', async () => {
    const [gone = '', kept = ''] = ids.keys();
    list(kept, LIMIT);
    await api.call('POST', `/servers/${ids.get(gone)}/disconnect`, { force: true });
    await leader()
      .app.get(CommandBus)
      .execute(new DiscoverTools(ids.get(kept) ?? ''));
    expect(await rows()).toEqual({ tools: LIMIT, counted: LIMIT });
    expect((await view(gone)).tool_count).toBe(20);
  });
});
