import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { commandLine, program } from '../support/command-line.js';
import type { Engine } from '../support/database.js';
import { PATIENCE, temporaryFolder } from '../support/env.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http.js';
import { fixture } from '../support/peers.js';
import { createDatabase, postgresVersions } from '../support/postgres.js';
import { type Ran, run } from '../support/run.js';
import { type ServiceProcess, startProcess } from '../support/service-process.js';

const API = '/api/v1/aggregator';
const KEY = 'CANARY-credential-key-of-the-backup-test';
const SECRET = 'CANARY-secret-of-a-server';
const TOKEN = 'CANARY-admin-token-of-the-backup-test';

type Settings = Record<string, string>;
const settings = (more: Settings = {}): Settings => ({
  MCP_CREDENTIAL_KEY: KEY,
  MCP_AGGREGATOR_TOKENS: `admin:admin:${TOKEN}`,
  ...more,
});

describe('a backup', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  const running: ServiceProcess[] = [];
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(async () => {
    await stopAll();
    await folder.remove();
  });

  const dataDir = (name: string): string => join(folder.path, name);

  async function start(name: string, more: Settings = {}): Promise<ServiceProcess> {
    const service = await startProcess(dataDir(name), settings(more));
    running.push(service);
    return service;
  }

  async function stopAll(): Promise<void> {
    for (const { child, exited } of running.splice(0)) {
      child.kill('SIGTERM');
      await exited;
    }
  }

  async function databaseOf(engine: Engine): Promise<Settings> {
    return engine === 'PGlite' ? {} : { DATABASE_URL: await createDatabase({ version: engine }) };
  }

  /** `switchboard` where a service with these settings would run. */
  function local(name: string, args: readonly string[], more: Settings = {}): Promise<Ran> {
    return run(process.execPath, [program, ...args], {
      cwd: folder.path,
      env: {
        PATH: process.env['PATH'],
        MCP_AGGREGATOR_DATA_DIR: dataDir(name),
        MCP_AGGREGATOR_PORT: '0',
        ...PATIENCE,
        ...settings(more),
      },
    });
  }

  async function post(service: ServiceProcess, path: string, body: object): Promise<unknown> {
    const answer = await send(service.url, `${API}${path}`, {
      method: 'POST',
      token: service.token,
      body: JSON.stringify(body),
    });
    expect([200, 201]).toContain(answer.status);
    return answer.body;
  }

  async function get(service: ServiceProcess, path: string): Promise<unknown> {
    const answer = await send(service.url, `${API}${path}`, { token: service.token });
    expect(answer.status).toBe(200);
    return answer.body;
  }

  /** Registers a server with tools, a view, a token and an override, and waits until nothing changes any more. */
  async function fill(service: ServiceProcess): Promise<void> {
    await post(service, '/servers', {
      name: 'items',
      transport_type: 'STDIO',
      connection_config: {
        command: process.execPath,
        args: [fixture('items.mjs'), 'alpha'],
        env: { SECRET },
      },
    });
    await eventually(async () => {
      expect(await get(service, '/servers')).toMatchObject({
        servers: [{ name: 'items', status: 'CONNECTED', tool_count: 8 }],
      });
    });
    await post(service, '/views', { slug: 'reading', rules: [{ annotation: 'read_only' }] });
    await post(service, '/tokens', { name: 'reader', role: 'viewer', view: 'reading' });
  }

  /** What a restored service has to tell alike. */
  async function shown(service: ServiceProcess): Promise<unknown> {
    const servers = (await get(service, '/servers')) as { servers: { id: string; name: string }[] };
    const tools = (await get(service, '/tools')) as { tools: Record<string, unknown>[] };
    const tokens = (await get(service, '/tokens')) as { tokens: Record<string, unknown>[] };
    return {
      servers: servers.servers.map(({ id, name }) => ({ id, name })),
      tools: tools.tools.map(({ id, name, description }) => ({ id, name, description })),
      tokens: tokens.tokens.map(({ id, name, scopes, view }) => ({ id, name, scopes, view })),
      views: await get(service, '/views'),
    };
  }

  async function isReady(service: ServiceProcess): Promise<void> {
    await eventually(async () => {
      expect(await get(service, '/servers')).toMatchObject({
        servers: [{ name: 'items', status: 'CONNECTED', tool_count: 8 }],
      });
    });
  }

  it.each([
    ['PGlite', 'PGlite'],
    ['PGlite', 'PostgreSQL'],
    ['PostgreSQL', 'PGlite'],
    ...postgresVersions.slice(1).map((version) => ['PostgreSQL', version] as const),
  ] as const)(
    'of %s, taken while the service writes, restores to the same lists, tokens and views on %s',
    async (from, to) => {
      const source = await databaseOf(from);
      const service = await start('first', source);
      await fill(service);
      const file = join(folder.path, 'backup.jsonl.gz');
      let writes = 0;
      const writing = (async () => {
        while (writes < 20) {
          await post(service, '/views', { slug: `later-${writes}`, rules: [{ name: 'x' }] });
          writes++;
        }
      })();
      await eventually(() => expect(writes).toBeGreaterThan(1));
      const taken = await commandLine(service).run('backup', file);
      await writing;
      expect(taken).toMatchObject({ code: 0, stderr: '' });
      expect(statSync(file).mode & 0o777).toBe(0o600);
      const before = (await shown(service)) as { views: { views: { slug: string }[] } };
      await stopAll();

      const target = await databaseOf(to);
      const restored = await local('second', ['restore', file], target);
      expect(restored).toMatchObject({ code: 0, stderr: '' });
      const second = await start('second', target);
      await isReady(second);
      const after = (await shown(second)) as typeof before;
      const kept = after.views.views.map(({ slug }) => slug);
      expect(kept).toEqual(expect.arrayContaining(['default', 'reading', 'later-0']));
      // Of one moment: what was written one after another is there up to a point.
      const later = kept.filter((slug) => slug.startsWith('later-'));
      expect(later.sort()).toEqual(
        Array.from({ length: later.length }, (_item, i) => `later-${i}`).sort(),
      );
      expect({ ...after, views: undefined }).toEqual({ ...before, views: undefined });
      // New rows get new ids.
      await post(second, '/tokens', { name: 'later', role: 'viewer' });
      await post(second, '/views', { slug: 'of-the-second', rules: [{ name: 'x' }] });
    },
  );

  it('has neither the key of stored credentials nor anything that it encrypts', async () => {
    const service = await start('first');
    await fill(service);
    const file = join(folder.path, 'backup.jsonl.gz');
    expect(await commandLine(service).run('backup', file)).toMatchObject({ code: 0 });
    const text = gunzipSync(readFileSync(file)).toString();
    expect(text).toContain('"name":"items"');
    expect(text).not.toContain('CANARY');
    expect(text).not.toContain(Buffer.from(KEY).toString('base64'));
  });

  it('is not restored over a database, unless it is to be replaced, and keeps the former one', async () => {
    await fill(await start('first'));
    await stopAll();
    const file = join(folder.path, 'backup.jsonl.gz');
    expect(await local('first', ['backup', '--offline', file])).toMatchObject({ code: 0 });
    expect(await local('first', ['backup', '--offline', file])).toMatchObject({ code: 2 });
    const refused = await local('first', ['restore', file]);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('--replace') });
    const replaced = await local('first', ['restore', '--replace', file]);
    expect(replaced).toMatchObject({ code: 0, stdout: expect.stringContaining('before-restore') });
    await isReady(await start('first'));
  });

  it('is not restored on PostgreSQL while a service runs on it', async () => {
    const target = { DATABASE_URL: await createDatabase() };
    const service = await start('first', target);
    const file = join(folder.path, 'backup.jsonl.gz');
    expect(await commandLine(service).run('backup', file)).toMatchObject({ code: 0 });
    const refused = await local('second', ['restore', '--replace', file], target);
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Stop every replica'),
    });
    await get(service, '/views');
    await stopAll();
    expect(await local('second', ['restore', '--replace', file], target)).toMatchObject({
      code: 0,
    });
  });

  it.each([
    ['another file', () => Buffer.from('not a backup')],
    ['one that is cut off', (whole: Buffer) => whole.subarray(0, whole.length / 2)],
    [
      'one without its end',
      (whole: Buffer) =>
        gzipSync(gunzipSync(whole).toString().trimEnd().split('\n').slice(0, -1).join('\n') + '\n'),
    ],
    [
      'one of a newer version',
      (whole: Buffer) =>
        gzipSync(gunzipSync(whole).toString().replace('"migrations":[', '"migrations":["Later",')),
    ],
  ])('refuses %s and leaves no database behind', async (_, spoil) => {
    const service = await start('first');
    const file = join(folder.path, 'backup.jsonl.gz');
    expect(await commandLine(service).run('backup', file)).toMatchObject({ code: 0 });
    writeFileSync(file, spoil(readFileSync(file)));
    const refused = await local('second', ['restore', file]);
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('cannot be restored'),
    });
    expect(() => statSync(join(dataDir('second'), 'postgres'))).toThrow();
  });
});
