import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { z } from 'zod';
import { program } from '../support/command-line.js';
import { PATIENCE, temporaryFolder } from '../support/env.js';
import { send } from '../support/http.js';
import { freePort } from '../support/peers.js';
import { createDatabase } from '../support/postgres.js';
import { run } from '../support/run.js';
import { type ServiceProcess, startProcess } from '../support/service-process.js';

const answer = z.object({
  checks: z.array(
    z.object({
      check: z.string(),
      outcome: z.enum(['ok', 'warn', 'fail']),
      detail: z.string(),
      remedy: z.string().optional(),
    }),
  ),
});
type Settings = Record<string, string>;
const nowhere = async (): Promise<string> => `http://127.0.0.1:${await freePort()}`;

describe('switchboard doctor', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(() => folder.remove());

  const doctor = async (settings: Settings = {}) => {
    const { code, stdout, stderr } = await run(process.execPath, [program, '--json', 'doctor'], {
      cwd: folder.path,
      env: {
        PATH: process.env['PATH'],
        MCP_AGGREGATOR_DATA_DIR: join(folder.path, 'data'),
        MCP_AGGREGATOR_PORT: '0',
        ...PATIENCE,
        ...settings,
      },
    });
    expect(stderr).toBe('');
    const { checks } = answer.parse(JSON.parse(stdout));
    for (const { outcome, remedy } of checks) expect(remedy === undefined).toBe(outcome === 'ok');
    return { code, of: (name: string) => checks.find(({ check }) => check === name), checks };
  };
  const stop = async ({ child, exited }: ServiceProcess): Promise<void> => {
    child.kill('SIGTERM');
    await exited;
  };
  const register = async ({ url, token }: ServiceProcess, body: object): Promise<void> => {
    const { status } = await send(url, '/api/v1/aggregator/servers', {
      method: 'POST',
      token,
      body: JSON.stringify(body),
    });
    expect(status).toBe(201);
  };

  it('finds nothing wrong before a first start, and makes nothing', async () => {
    const { code, checks } = await doctor();
    expect(code).toBe(0);
    expect(checks.every(({ outcome }) => outcome === 'ok')).toBe(true);
    expect((await doctor()).of('data folder')?.detail).toContain('will be made');
  });

  it('checks servers by their rows while no service runs, and by the service while it runs', async () => {
    const data = join(folder.path, 'data');
    const service = await startProcess(data);
    const target = { connection_config: { command: 'no-such-program', args: [] } };
    await register(service, { name: 'missing', transport_type: 'STDIO', ...target });
    const gone = { name: 'gone', transport_type: 'HTTP', health_check_url: null };
    await register(service, { ...gone, connection_config: { base_url: `${await nowhere()}/mcp` } });
    const running = await doctor();
    expect(running.of('service')?.detail).toContain(service.url);
    expect(running.of('data folder')?.detail).toContain(`process ${service.child.pid}`);
    expect(running.of('server missing')).toBeDefined();
    await stop(service);

    const stopped = await doctor();
    expect(stopped.code).toBe(1);
    expect(stopped.of('service')?.detail).toBe('does not run');
    expect(stopped.of('migrations')?.outcome).toBe('ok');
    expect(stopped.of('encryption key')).toMatchObject({
      outcome: 'warn',
      detail: expect.stringContaining('opens the stored credentials'),
    });
    expect(stopped.of('server missing')).toMatchObject({
      outcome: 'fail',
      detail: 'there is no program no-such-program',
    });
    expect(stopped.of('server gone')).toMatchObject({
      outcome: 'fail',
      detail: expect.stringContaining('ECONNREFUSED'),
    });
    const wrong = await doctor({ MCP_CREDENTIAL_KEY: 'another key than that of the rows' });
    expect(wrong.of('encryption key')?.outcome).toBe('fail');
  });

  it('compares a PostgreSQL with what the service needs', async () => {
    const DATABASE_URL = await createDatabase();
    const settings = { DATABASE_URL, MCP_CREDENTIAL_KEY: 'a-key-for-this-test-only' };
    const { code, of } = await doctor(settings);
    expect(code).toBe(0);
    expect(of('database')?.detail).toMatch(/^PostgreSQL \d+/);
    expect(of('migrations')?.detail).toMatch(/^\d+ will be applied/);
    expect(of('clock')?.outcome).toBe('ok');
    expect(of('pooler')?.outcome).toBe('ok');
    const silent = await doctor({ ...settings, DATABASE_URL: 'postgres://u:SECRET@127.0.0.1:1/x' });
    expect(silent.code).toBe(1);
    expect(silent.of('database')).toMatchObject({ outcome: 'fail' });
    expect(JSON.stringify(silent.checks)).not.toContain('SECRET');
  });

  it('names a port that another program uses, and a folder that cannot be used', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    mkdirSync(join(folder.path, 'data'));
    const { code, of } = await doctor({ MCP_AGGREGATOR_PORT: String(port) });
    server.close();
    expect(code).toBe(1);
    expect(of('port')).toMatchObject({
      outcome: 'fail',
      detail: expect.stringContaining(`${port}`),
    });
    writeFileSync(join(folder.path, 'file'), '');
    const inFile = await doctor({ MCP_AGGREGATOR_DATA_DIR: join(folder.path, 'file') });
    expect(inFile.of('data folder')).toMatchObject({ outcome: 'fail' });
  });

  it('names what is wrong in the settings, and a Qdrant that is gone', async () => {
    const wrong = await doctor({ MCP_AGGREGATOR_PORT: 'many' });
    expect(wrong.code).toBe(1);
    expect(wrong.of('settings')?.detail).toContain('MCP_AGGREGATOR_PORT');
    expect((await doctor({ QDRANT_URL: await nowhere() })).of('qdrant')).toMatchObject({
      outcome: 'warn',
      detail: expect.stringContaining('ECONNREFUSED'),
    });
  });
});
