import pg from 'pg';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startApp, type TestApp } from '../../../../test/support/app.js';
import { temporaryFolder } from '../../../../test/support/env.js';
import { eventually } from '../../../../test/support/eventually.js';
import { freePort } from '../../../../test/support/peers.js';
import { type Answer, send } from '../../../../test/support/http.js';
import { createDatabase } from '../../../../test/support/postgres.js';
import { Leadership } from './leadership.js';
import { isPooledByTransaction } from './pooler.js';
import { Replicas } from './replicas.js';

const PROGRAM = pathOfPgBouncer();

/** `.ci/run` installs PgBouncer; on other machines without it these rules are not checked. */
(PROGRAM ? describe : describe.skip)('behind PgBouncer', () => {
  let folder: { path: string; remove: () => Promise<void> };
  const running: ChildProcess[] = [];

  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(async () => {
    for (const child of running.splice(0)) {
      const exited = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await exited;
    }
    await folder.remove();
  });

  /** The URL of the same database through the pooler. */
  async function pooled(direct: string, mode: 'transaction' | 'session'): Promise<string> {
    const { hostname, port, username, password } = new URL(direct);
    const listen = await freePort();
    const users = join(folder.path, 'users.txt');
    writeFileSync(users, `"${username}" "${password}"\n`);
    const config = join(folder.path, `${mode}.ini`);
    const lines = [
      '[databases]',
      `* = host=${hostname} port=${port}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${listen}`,
      'unix_socket_dir =',
      'auth_type = plain',
      `auth_file = ${users}`,
      `pool_mode = ${mode}`,
    ];
    writeFileSync(config, lines.join('\n'));
    const isRoot = process.getuid?.() === 0;
    if (isRoot) chmodSync(folder.path, 0o755);
    const options = isRoot ? ['-u', 'daemon'] : [];
    running.push(spawn(PROGRAM ?? '', [...options, config], { stdio: 'ignore' }));
    const url = new URL(direct);
    url.port = String(listen);
    await eventually(() => isPooledByTransaction(url.href));
    return url.href;
  }
  const settings = (url: string, direct?: string): Record<string, string> => ({
    DATABASE_URL: url,
    ...(direct && { DATABASE_DIRECT_URL: direct }),
    MCP_CREDENTIAL_KEY: 'a-key-for-this-test-only',
  });

  it('transaction mode is told from a direct connection and from session mode', async () => {
    const direct = await createDatabase();
    expect(await isPooledByTransaction(direct)).toBe(false);
    expect(await isPooledByTransaction(await pooled(direct, 'transaction'))).toBe(true);
    expect(await isPooledByTransaction(await pooled(direct, 'session'))).toBe(false);
  });

  it('in transaction mode the service does not start without an address of PostgreSQL itself', async () => {
    const url = await pooled(await createDatabase(), 'transaction');
    await expect(startApp(settings(url))).rejects.toThrow('Set DATABASE_DIRECT_URL');
    await expect(startApp(settings(url, url))).rejects.toThrow('DATABASE_DIRECT_URL leads to');
  });

  it('with that address one of two replicas leads, and each hears of the writes of the other', async () => {
    const direct = await createDatabase();
    const url = await pooled(direct, 'transaction');
    const apps: TestApp[] = [];
    for (let i = 0; i < 2; i++) apps.push(await startApp(settings(url, direct)));
    try {
      expect(apps.map(({ app }) => app.get(Leadership).leads)).toEqual([true, false]);
      const heard: unknown[] = [];
      apps[1]?.app.get(Replicas).hear((news) => heard.push(news));
      await apps[0]?.app.get(Replicas).tell('tools', ['a']);
      await eventually(() => expect(heard).toMatchObject([{ topic: 'tools', ids: ['a'] }]));
    } finally {
      for (const app of apps) await app.close();
    }
  });

  it('requests wait for a locked table as long as without it, and leave no limit to other clients', async () => {
    const direct = await createDatabase();
    const url = await pooled(direct, 'transaction');
    const service = await startApp({
      ...settings(url, direct),
      MCP_AGGREGATOR_DATABASE_WAIT: '2',
    });
    const [admin, other] = [direct, url].map((to) => new pg.Client({ connectionString: to }));
    const get = (path: string): Promise<Answer> =>
      send(service.url, `/api/v1/aggregator/${path}`, { token: service.token });
    try {
      await admin?.connect();
      await other?.connect();
      await admin?.query('BEGIN; LOCK TABLE mcp.external_servers IN ACCESS EXCLUSIVE MODE');
      const stuck = Array.from({ length: 10 }, () => get('servers'));
      expect((await get('skills')).status).toBe(200);
      for (const { status } of await Promise.all(stuck)) expect(status).toBe(503);
      const limit = await other?.query('SHOW statement_timeout');
      expect(limit?.rows).toEqual([{ statement_timeout: '0' }]);
    } finally {
      await Promise.all([admin?.end(), other?.end()]);
      await service.close();
    }
  });
});

function pathOfPgBouncer(): string | undefined {
  for (const name of ['pgbouncer', '/usr/sbin/pgbouncer']) {
    try {
      execFileSync(name, ['--version'], { stdio: 'ignore' });
      return name;
    } catch {
      // not there
    }
  }
  return undefined;
}
