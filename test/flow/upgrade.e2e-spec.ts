import { createHash } from 'node:crypto';
import { DataSource } from 'typeorm';
import { dataSourceOptions } from '../../libs/platform/src/database/database.module.js';
import { EmbeddedDatabase } from '../../libs/platform/src/database/embedded-database.js';
import { migrate, revertLast } from '../../libs/platform/src/database/migrations.js';
import { migrations } from '../../migrations/index.js';
import { allEngines } from '../support/database.js';
import { temporaryFolder, testEnv } from '../support/env.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http.js';
import { fixture, type HttpPeer, httpPeer } from '../support/peers.js';
import { createDatabase } from '../support/postgres.js';
import { schemaOf } from '../support/schema.js';
import { type ServiceProcess, startProcess } from '../support/service-process.js';
import { loadDump, MIGRATIONS_010, statements010, unpackFolder } from '../support/version-010.js';

const API = '/api/v1/aggregator';
/** As in test/fixtures/upgrade/make.mjs. */
const SHARED = {
  MCP_CREDENTIAL_KEY: 'the-credential-key-of-0.1.0',
  MCP_AGGREGATOR_TOKENS: 'reader:read:CANARY-reader-of-0.1.0,admin:admin:CANARY-admin-of-0.1.0',
};

/** What people entered in 0.1.0, and ids that clients know. A server's configuration is encrypted. */
const KEPT = [
  'SELECT id, name, description, transport_type, connection_config, health_check_url, wanted FROM mcp.external_servers',
  'SELECT id, name, source_server_id, definition FROM mcp.tools WHERE is_external',
  'SELECT name, token_hash, scopes FROM mcp.api_tokens',
  `SELECT to_jsonb(s) - 'updated_at' FROM mcp.skill_categories s WHERE id = 'warehouse'`,
  `SELECT skill_ids FROM mcp.tools WHERE name = 'items.purge'`,
  'SELECT * FROM mcp.query_rules',
  'SELECT * FROM mcp.query_servers',
  `SELECT key, value FROM mcp.settings WHERE key LIKE 'credential%'`,
];

const digest = (secret: string): string =>
  createHash('sha256').update(secret).digest('hex').slice(0, 12);

describe.each(allEngines)('the data of version 0.1.0 in %s', (engine) => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let settings: Record<string, string>;
  let remote: HttpPeer;
  let service: ServiceProcess | undefined;

  beforeAll(async () => {
    remote = await httpPeer('whose.mjs', ['http']);
  });
  afterAll(() => remote.stop());

  beforeEach(async () => {
    folder = await temporaryFolder();
    settings = { FIXTURES: fixture(''), REMOTE_URL: remote.url };
    if (engine === 'PGlite') return unpackFolder(folder.path);
    const url = await createDatabase({ version: engine });
    await loadDump(url);
    settings = { ...settings, ...SHARED, DATABASE_URL: url };
  });
  afterEach(async () => {
    await stop();
    await folder.remove();
  });

  async function start(): Promise<ServiceProcess> {
    service = await startProcess(folder.path, {
      ...settings,
      MCP_AGGREGATOR_HEALTH_INTERVAL: '3600',
    });
    return service;
  }

  async function stop(): Promise<void> {
    service?.child.kill('SIGTERM');
    await service?.exited;
    service = undefined;
  }

  async function withDatabase<T>(work: (database: DataSource) => Promise<T>): Promise<T> {
    const embedded = new EmbeddedDatabase();
    const { DATABASE_URL = '', MCP_CREDENTIAL_KEY = '' } = settings;
    const env = testEnv(folder.path, { DATABASE_URL, MCP_CREDENTIAL_KEY });
    const database = await new DataSource(
      dataSourceOptions(env, embedded, migrations),
    ).initialize();
    try {
      return await work(database);
    } finally {
      await database.destroy();
      await embedded.close();
    }
  }

  it('is upgraded, goes back to its schema with the same rows, and is upgraded again', async () => {
    await withDatabase(async (database) => {
      const [schema, rows] = [await schemaOf(database), await allRows(database)];
      expect(rows.length).toBeGreaterThan(50);
      const added = await migrate(database);
      expect(added).toHaveLength(migrations.length - MIGRATIONS_010);
      const upgraded = await schemaOf(database);
      await downgrade(database);
      expect(await schemaOf(database)).toEqual(schema);
      expect(await allRows(database)).toEqual(rows);
      await understands010(database);
      expect(await migrate(database)).toEqual(added);
      expect(await schemaOf(database)).toEqual(upgraded);
    });
  });

  it('is served by this version, and is that of 0.1.0 after a downgrade', async () => {
    const [schema, kept] = await withDatabase(
      async (database) => [await schemaOf(database), await keptRows(database)] as const,
    );
    const first = await start();
    await showsTheSame(first, kept);
    await post(first, '/views', { slug: 'new', rules: [{ annotation: 'read_only' }] });
    await stop();
    await withDatabase(async (database) => {
      expect((await allRows(database)).length).toBeGreaterThan(50);
      await downgrade(database);
      expect(await schemaOf(database)).toEqual(schema);
      expect(await keptRows(database)).toEqual(kept);
      await understands010(database);
    });
    await showsTheSame(await start(), kept);
  });

  /** As `switchboard migrate revert`, for each migration that 0.1.0 does not have. */
  async function downgrade(database: DataSource): Promise<void> {
    const newer = migrations.slice(MIGRATIONS_010).toReversed();
    for (const { name } of newer) expect(await revertLast(database)).toBe(name);
  }

  async function showsTheSame(at: ServiceProcess, kept: Kept): Promise<void> {
    await eventually(async () => {
      const { servers } = (await get(at, '/servers')) as { servers: { name: string }[] };
      expect(servers).toMatchObject([
        { name: 'items', status: 'CONNECTED', tool_count: 8 },
        { name: 'local', status: 'CONNECTED', tool_count: 2 },
        { name: 'parked', status: 'DISCONNECTED', description: 'Not connected' },
        { name: 'remote', status: 'CONNECTED', tool_count: 2 },
      ]);
    });
    const { servers } = (await get(at, '/servers')) as { servers: Named[] };
    const { tools } = (await get(at, '/tools?limit=500')) as { tools: Named[] };
    const ids = (all: readonly Named[]): string[] => all.map(({ id, name }) => `${id} ${name}`);
    expect(ids(servers).toSorted()).toEqual(ids(kept.servers).toSorted());
    expect(ids(tools)).toEqual(expect.arrayContaining(ids(kept.tools)));
    await opensCredentials(at, servers);
    const purge = tools.find(({ name }) => name === 'items.purge');
    expect(purge).toMatchObject({ skill_ids: ['warehouse'], primary_skill_id: 'warehouse' });
    expect(await get(at, '/skills/warehouse')).toMatchObject({ name: 'Warehouse' });
    expect(await get(at, '/query/rules')).toMatchObject({
      rules: [{ pattern: 'shelf|item', servers: ['items'] }],
    });
    expect(await get(at, '/query/servers/items')).toMatchObject({ tool: 'find_items', weight: 2 });
    for (const event of ['server.registered', 'tool.called', 'access.refused']) {
      const { entries } = (await get(at, `/audit?event=${event}`)) as { entries: object[] };
      expect([event, entries.length > 0]).toEqual([event, true]);
    }
  }

  /** Those of servers are what they answer with; those of `parked` are shown masked, for which they are decrypted. */
  async function opensCredentials(at: ServiceProcess, servers: readonly Named[]): Promise<void> {
    for (const name of ['local', 'remote']) {
      const body = JSON.stringify({ name: `${name}.whose`, arguments: {} });
      const { body: answer } = await send(at.url, '/api/v1/tools/call', {
        ...{ method: 'POST', token: at.token, body },
      });
      expect(JSON.stringify(answer)).toContain(digest(`CANARY-key-of-${name}`));
    }
    const parked = servers.find(({ name }) => name === 'parked');
    expect(await get(at, `/servers/${parked?.id}`)).toMatchObject({
      health_check_url: 'https://parked.invalid/health?key=********',
      connection_config: {
        url: 'https://parked.invalid/sse',
        headers: { authorization: expect.stringMatching(/\*{8}$/) },
      },
    });
  }
});

type Named = Readonly<Record<string, unknown> & { id: string; name: string }>;
interface Kept {
  readonly servers: readonly Named[];
  readonly tools: readonly Named[];
  readonly others: readonly unknown[];
}

async function keptRows(database: DataSource): Promise<Kept> {
  const [servers = [], tools = [], ...others] = await Promise.all(
    KEPT.map(async (sql) => (await database.query<Named[]>(sql)).toSorted(byText)),
  );
  return { servers, tools, others };
}

const byText = (one: unknown, other: unknown): number =>
  JSON.stringify(one) < JSON.stringify(other) ? -1 : 1;

/** Every row of every table of 0.1.0, as text. */
async function allRows(database: DataSource): Promise<string[]> {
  const tables = await database.query<{ name: string }[]>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'mcp' AND tablename <> 'migrations'`,
  );
  const rows: string[] = [];
  for (const { name } of tables) {
    const found = await database.query<{ row: object }[]>(
      `SELECT to_jsonb(t) AS row FROM mcp.${name} t`,
    );
    rows.push(...found.map(({ row }) => `${name} ${JSON.stringify(row)}`));
  }
  return rows.toSorted();
}

/** PostgreSQL accepts every statement that 0.1.0 sends. */
async function understands010(database: DataSource): Promise<void> {
  expect(statements010.length).toBeGreaterThan(50);
  const runner = database.createQueryRunner();
  for (const [i, sql] of statements010.entries()) {
    await runner.query(`PREPARE of_010_${i} AS ${sql}`);
    await runner.query(`DEALLOCATE of_010_${i}`);
  }
  await runner.release();
}

async function get(at: ServiceProcess, path: string): Promise<unknown> {
  const answer = await send(at.url, API + path, { token: at.token });
  expect([path, answer.status]).toEqual([path, 200]);
  return answer.body;
}

async function post(at: ServiceProcess, path: string, body: object): Promise<void> {
  const { status } = await send(at.url, API + path, {
    ...{ method: 'POST', token: at.token, body: JSON.stringify(body) },
  });
  expect(status).toBe(201);
}
