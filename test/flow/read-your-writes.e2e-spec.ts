import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Api } from '../support/api.js';
import { startApp, stopIntervals, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http.js';
import { ListingServer } from '../support/listing-server.js';
import { createDatabase } from '../support/postgres.js';

const WRITES = 200;
const SERVERS = 4;
const SKILLS = ['files', 'databases', 'security'];

/** Seeded, so that a failure can be reproduced. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

/** Expected state of a server after the writes so far. */
interface Written {
  id: string;
  path: string;
  name: string;
  connected: boolean;
  /** With the skills that an administrator set. */
  tools: Map<string, readonly string[] | undefined>;
}

/** State reported by a service, in the terms of the writes. */
interface Shown {
  servers: string[];
  tools: string[];
  counts: object;
}

describe.each([
  ['PostgreSQL', true],
  ['PGlite', false],
])('a storm of writes on %s', (_, isShared) => {
  const roll = dice(20_261_119);
  const upstream = new ListingServer();
  const world = new Map<string, Written>();
  let first: TestApp;
  let second: TestApp | undefined;
  let api: Api;
  let mcp: Client;
  let made = 0;

  beforeAll(async () => {
    await upstream.start();
    const settings = {
      DATABASE_URL: isShared ? await createDatabase() : '',
      MCP_AGGREGATOR_ALLOW_INSECURE_HTTP: 'true',
    };
    first = await startApp(settings);
    if (isShared) second = await startApp(settings);
    if (second) stopIntervals(second);
    api = new Api(first);
    mcp = new Client({ name: 'storm', version: '1' });
    const headers = { authorization: `Bearer ${first.token}` };
    await mcp.connect(
      new StreamableHTTPClientTransport(new URL(`${first.url}/mcp`), { requestInit: { headers } }),
    );
  });
  afterAll(async () => {
    await mcp.close();
    await second?.close();
    await first.close();
    await upstream.stop();
  });

  const nameOf = (server: Written, tool: string): string => `${server.name}.${tool}`;

  async function register(): Promise<Written> {
    made++;
    const path = `path-${made}`;
    const name = `server-${made}`;
    upstream.tools.set(path, [`sow_${made}`, `water_${made}`]);
    const id = await api.register({
      name,
      transport_type: 'HTTP',
      connection_config: { base_url: upstream.url(path) },
      auto_connect: false,
    });
    const server = { id, path, name, connected: false, tools: new Map() };
    world.set(id, server);
    return server;
  }

  async function connect(server: Written): Promise<void> {
    const { body } = await api.call('POST', `/servers/${server.id}/connect?wait_seconds=60`);
    expect(body['status']).toBe('CONNECTED');
    server.connected = true;
    const kept = server.tools;
    server.tools = new Map(
      (upstream.tools.get(server.path) ?? []).map((tool) => [tool, kept.get(tool)]),
    );
  }

  async function disconnect(server: Written): Promise<void> {
    await api.call('POST', `/servers/${server.id}/disconnect`, { force: true });
    server.connected = false;
  }

  async function rename(server: Written): Promise<void> {
    made++;
    const before = server.name;
    server.name = `server-${made}`;
    const { status } = await api.call('PATCH', `/servers/${server.id}`, { name: server.name });
    expect(status).toBe(200);
    const [tool] = server.tools.keys();
    if (tool !== undefined) expect((await call(`${before}.${tool}`)).status).toBe(404);
  }

  async function remove(server: Written): Promise<void> {
    expect((await api.call('DELETE', `/servers/${server.id}`)).status).toBe(204);
    world.delete(server.id);
    for (const tool of server.tools.keys()) {
      expect((await call(nameOf(server, tool))).status).toBe(404);
    }
  }

  async function registerAgain(server: Written): Promise<void> {
    await remove(server);
    const { name, path } = server;
    const connection_config = { base_url: upstream.url(path) };
    const body = { name, transport_type: 'HTTP', connection_config, auto_connect: false };
    const id = await api.register(body);
    world.set(id, { id, path, name, connected: false, tools: new Map() });
  }

  async function override(server: Written): Promise<void> {
    const [tool] = server.tools.keys();
    if (tool === undefined) return;
    const { body } = await api.call('GET', `/servers/${server.id}/tools`);
    const rows = body['tools'] as { id: string; original_name: string }[];
    const id = rows.find(({ original_name }) => original_name === tool)?.id;
    const skills = [SKILLS[roll(SKILLS.length)] ?? 'files'];
    const { status } = await api.call('PUT', `/tools/${id}/skills`, { skill_ids: skills });
    expect(status).toBe(204);
    server.tools.set(tool, skills);
  }

  /** Discovery runs in the background; a tool that is counted or found can be called. */
  async function refresh(server: Written): Promise<void> {
    if (!server.connected) return;
    made++;
    const tools = [`sow_${made}`, `prune_${made}`];
    upstream.tools.set(server.path, tools);
    expect((await api.call('POST', `/servers/${server.id}/tools/refresh`)).status).toBe(202);
    await eventually(async () => {
      expect(await found(first, `prune_${made}`)).toContain(nameOf(server, `prune_${made}`));
    });
    server.tools = new Map(tools.map((tool) => [tool, undefined]));
  }

  async function write(): Promise<Written> {
    const servers = [...world.values()];
    const server = servers[roll(servers.length)];
    if (!server || servers.length < SERVERS) return register();
    const acts = [connect, connect, disconnect, rename, remove, registerAgain, override, refresh];
    await acts[roll(acts.length)]?.(server);
    return server;
  }

  const call = (name: string): ReturnType<typeof send> =>
    send(first.url, '/api/v1/tools/call', {
      method: 'POST',
      token: first.token,
      body: JSON.stringify({ name, arguments: {} }),
    });

  async function found(service: TestApp, query: string): Promise<string[]> {
    const { body } = await send(service.url, '/api/v1/search', {
      method: 'POST',
      token: service.token,
      body: JSON.stringify({ query, limit: 50, tool_threshold: 0 }),
    });
    return (body as { tools: { name: string }[] }).tools.map(({ name }) => name);
  }

  async function shown(service: TestApp): Promise<Shown> {
    const own = new Api(service);
    const [servers, tools, state] = await Promise.all([
      own.call('GET', '/servers'),
      own.call('GET', '/tools?limit=100'),
      own.call('GET', '/state'),
    ]);
    const views = servers.body['servers'] as { name: string; status: string; tool_count: number }[];
    const rows = tools.body['tools'] as { name: string; skill_ids: string[] }[];
    const { total_servers, connected_servers, total_tools } = state.body;
    return {
      servers: views.map(({ name, status, tool_count }) => `${name} ${status} ${tool_count}`),
      tools: rows.map(({ name, skill_ids }) => `${name} ${isGiven(name) ? skill_ids.join() : ''}`),
      counts: { total_servers, connected_servers, total_tools },
    };
  }

  const isGiven = (name: string): boolean =>
    [...world.values()].some((server) =>
      [...server.tools].some(([tool, skills]) => skills && nameOf(server, tool) === name),
    );

  function written(): Shown {
    const servers = [...world.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
    const tools = servers.flatMap((server) =>
      [...server.tools].map(([tool, skills]) => `${nameOf(server, tool)} ${skills?.join() ?? ''}`),
    );
    return {
      servers: servers.map(
        ({ name, connected, tools: own }) =>
          `${name} ${connected ? 'CONNECTED' : 'DISCONNECTED'} ${own.size}`,
      ),
      tools: tools.toSorted(),
      counts: {
        total_servers: servers.length,
        connected_servers: servers.filter(({ connected }) => connected).length,
        total_tools: tools.length,
      },
    };
  }

  async function expectAgreement(server: Written): Promise<void> {
    const connected = [...world.values()].filter((server) => server.connected);
    const callable = connected.flatMap((server) =>
      [...server.tools.keys()].map((tool) => nameOf(server, tool)),
    );
    const now = await shown(first);
    expect({ ...now, tools: now.tools.toSorted() }).toEqual(written());
    expect((await found(first, 'gardening')).filter(isOfServer).toSorted()).toEqual(
      callable.toSorted(),
    );
    const { tools } = await mcp.listTools();
    expect(
      tools
        .map(({ name }) => name.replace('__', '.'))
        .filter(isOfServer)
        .toSorted(),
    ).toEqual(callable.toSorted());
    // The others were called after their write.
    for (const tool of server.connected && world.has(server.id) ? server.tools.keys() : []) {
      const { status, body } = await call(nameOf(server, tool));
      expect([status, JSON.stringify(body)]).toEqual([200, expect.stringContaining(server.path)]);
    }
  }

  /** By messages of the other replica: it does not compare itself with the rows here. */
  async function expectFollowed(service: TestApp): Promise<void> {
    await eventually(async () => {
      const now = await shown(service);
      expect({ ...now, tools: now.tools.toSorted() }).toEqual(written());
    });
  }

  it(`every later read reflects all of ${WRITES} writes`, async () => {
    for (let i = 0; i < WRITES; i++) {
      await expectAgreement(await write());
      if (second) await expectFollowed(second);
    }
  });
});

function isOfServer(name: string): boolean {
  return name.startsWith('server-');
}
