import { existsSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../support/env.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http.js';
import { processesWith } from '../support/peers.js';
import { createDatabase } from '../support/postgres.js';
import { launch, type ServiceProcess, startProcess } from '../support/service-process.js';

const SERVERS = '/api/v1/aggregator/servers';
/** Like a container: separate network, process ids, mounts and host name. */
const CONTAINER = [
  'unshare',
  '--net',
  '--pid',
  '--mount-proc',
  '--uts',
  '--kill-child',
  '--fork',
  '--',
];

const register = (service: ServiceProcess, name: string): Promise<number> =>
  send(service.url, SERVERS, {
    method: 'POST',
    token: service.token,
    body: JSON.stringify({
      name,
      transport_type: 'HTTP',
      connection_config: { base_url: 'https://a.example/mcp' },
      auto_connect: false,
    }),
  }).then(
    ({ status }) => status,
    () => 0,
  );

const namesOf = async (service: ServiceProcess): Promise<string[]> => {
  const { body } = await send(service.url, `${SERVERS}?limit=500`, { token: service.token });
  return (body as { servers: { name: string }[] }).servers.map(({ name }) => name);
};

describe('the data folder', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let dataDir: string;
  const running: Pick<ServiceProcess, 'child' | 'exited'>[] = [];

  beforeEach(async () => {
    folder = await temporaryFolder();
    dataDir = join(folder.path, 'data');
  });
  afterEach(async () => {
    for (const { child, exited } of running.splice(0)) {
      child.kill('SIGKILL');
      await exited;
    }
    await folder.remove();
  });

  const start = async (...args: Parameters<typeof startProcess>): Promise<ServiceProcess> => {
    const service = await startProcess(...args);
    running.push(service);
    return service;
  };
  const refusal = async (...args: Parameters<typeof launch>): Promise<string> => {
    const service = launch(...args);
    running.push(service);
    expect(await service.exited).toBe(1);
    expect(service.output()).not.toMatch(/^\s+at /m);
    return service.output();
  };
  const inContainer = (): ReturnType<typeof launch> => {
    const service = launch(dataDir, {}, [], CONTAINER);
    running.push(service);
    return service;
  };
  const listening = ({ output }: ReturnType<typeof launch>): Promise<void> =>
    eventually(() => expect(output()).toContain('"listening"'));

  it('is refused to a container while another one writes to it: no acknowledged write is lost', async () => {
    const first = await start(dataDir);
    const writes = Array.from({ length: 40 }, (_, i) => register(first, `server-${i}`));
    const output = await refusal(dataDir, {}, [], CONTAINER);
    expect(output).toContain('Another Switchboard already uses the data folder');
    expect(output).toContain(`process ${first.child.pid}`);
    expect(output).toContain(first.url);
    expect(await Promise.all(writes)).toEqual(Array.from({ length: 40 }, () => 201));
    first.child.kill('SIGKILL');
    await first.exited;
    expect(await namesOf(await start(dataDir))).toHaveLength(40);
  });

  it('goes at once to a new container whose process has the id of the killed one', async () => {
    const first = inContainer();
    await listening(first);
    const [record = ''] = readdirSync(join(dataDir, 'lock')).filter((name) => /json$/.test(name));
    expect(JSON.parse(readFileSync(join(dataDir, 'lock', record), 'utf8'))).toMatchObject({
      pid: 1,
    });
    first.child.kill('SIGKILL');
    await first.exited;
    // The kernel ends the process in the container after its parent.
    await eventually(() => expect(processesWith(`MCP_AGGREGATOR_DATA_DIR=${dataDir}`)).toEqual([]));
    const second = inContainer();
    await listening(second);
    expect(second.output()).not.toContain('waiting');
    expect(readdirSync(join(dataDir, 'lock'))).toHaveLength(2);
  });

  it('stays with a paused process, which uses it after it resumes', async () => {
    const first = await start(dataDir);
    first.child.kill('SIGSTOP');
    expect(await refusal(dataDir, {}, [], CONTAINER)).toContain('already uses the data folder');
    first.child.kill('SIGCONT');
    expect(await register(first, 'after-the-pause')).toBe(201);
    first.child.kill('SIGTERM');
    expect(await first.exited).toBe(0);
    expect(readdirSync(join(dataDir, 'lock'))).toEqual([]);
  });

  it('is lost when it is replaced: no write is acknowledged, and health and log report it', async () => {
    const first = await start(dataDir);
    expect(await register(first, 'before')).toBe(201);
    renameSync(dataDir, `${dataDir}.old`);
    const second = await start(dataDir);
    expect(await register(first, 'lost')).toBeGreaterThanOrEqual(500);
    expect((await send(first.url, '/health')).status).toBe(503);
    expect((await send(first.url, '/health/ready')).status).toBe(503);
    expect(first.output()).toContain('was removed or replaced while it was in use');
    expect(await register(second, 'kept')).toBe(201);
    first.child.kill('SIGTERM');
    expect(await first.exited).toBe(0);
    // The address file in the new folder belongs to the new process.
    expect(readFileSync(join(dataDir, 'address'), 'utf8')).toBe(second.url);
    expect(await namesOf(second)).toEqual(['kept']);
  });

  it('is free as soon as its service has ended, and says before that it is shutting down', async () => {
    const first = await start(dataDir);
    const stubborn = {
      command: '/bin/sh',
      args: ['-c', 'trap "" TERM; echo deaf >&2; while :; do sleep 1; done'],
    };
    const { body } = await send(first.url, SERVERS, {
      method: 'POST',
      token: first.token,
      body: JSON.stringify({
        name: 'stubborn',
        transport_type: 'STDIO',
        connection_config: stubborn,
      }),
    });
    const path = `${SERVERS}/${(body as { id: string }).id}/logs`;
    await eventually(async () => {
      const logs = await send(first.url, path, { token: first.token });
      expect(logs.body).toMatchObject({ lines: ['deaf'] });
    });
    first.child.kill('SIGTERM');
    await eventually(() => expect(existsSync(join(dataDir, 'address'))).toBe(false));
    // Paused, so that it does not finish before the other one has loaded.
    first.child.kill('SIGSTOP');
    expect(await refusal(dataDir)).toContain('It is shutting down');
    first.child.kill('SIGCONT');
    await first.exited;
    const second = await start(dataDir);
    expect(second.output()).not.toContain('waiting');
  });

  it('may be shared by replicas on PostgreSQL, each of which removes its own address alone', async () => {
    const settings = {
      DATABASE_URL: await createDatabase(),
      MCP_CREDENTIAL_KEY: 'a-key-for-this-test-only',
    };
    const first = await start(dataDir, settings);
    const second = await start(dataDir, settings);
    expect(second.token).toBe(first.token);
    first.child.kill('SIGTERM');
    await first.exited;
    expect(readFileSync(join(dataDir, 'address'), 'utf8')).toBe(second.url);
    second.child.kill('SIGTERM');
    await second.exited;
    expect(existsSync(join(dataDir, 'address'))).toBe(false);
  });
});
