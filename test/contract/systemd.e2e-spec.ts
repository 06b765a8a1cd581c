import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { envSchema } from '../../libs/platform/src/config/env.js';
import { temporaryFolder } from '../support/env.js';
import { eventually } from '../support/eventually.js';
import { startHoldingServer } from '../support/holding-server.js';
import { send } from '../support/http.js';

const UNIT = 'deploy/systemd/switchboard.service';
const TOKEN = 'a-token-of-this-test-only';
const API = '/api/v1/aggregator';

/** Names and values of the section [Service], in their order. */
const directives = readFileSync(UNIT, 'utf8')
  .split('[Service]')[1]
  ?.split('[Install]')[0]
  ?.split('\n')
  .map((line) => /^(\w+)=(.*)$/.exec(line))
  .flatMap((match) => (match ? [[match[1] ?? '', match[2] ?? ''] as const] : []));

function valueOf(name: string): string {
  const found = directives?.filter(([key]) => key === name) ?? [];
  expect([name, found.length]).toEqual([name, 1]);
  return found[0]?.[1] ?? '';
}

const environment = Object.fromEntries(
  (directives ?? [])
    .filter(([key]) => key === 'Environment')
    .flatMap(([, value]) => value.split(' '))
    .map((pair) => pair.split('=', 2)),
) as Record<string, string>;

const hasAnalyze = spawnSync('systemd-analyze', ['--version']).status === 0;
if (!hasAnalyze) {
  process.stderr.write('skipped: systemd-analyze verify, which is not in the PATH\n');
}

describe('the unit for systemd', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  const running = new Set<ChildProcess>();
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(async () => {
    for (const child of running) child.kill('SIGKILL');
    await folder.remove();
  });

  (hasAnalyze ? it : it.skip)('has no mistake that systemd finds', () => {
    const copy = join(folder.path, 'switchboard.service');
    writeFileSync(copy, readFileSync(UNIT, 'utf8').replace('/usr/bin/node', process.execPath));
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', copy], {
      encoding: 'utf8',
    });
    // Also of what it ignores, it only says so. Other units of the machine are not meant.
    const lines = stderr.split('\n').filter((line) => line.includes('switchboard.service'));
    expect([status, lines]).toEqual([0, []]);
  });

  it('has settings that the service knows, and leaves it the time that it takes to end', () => {
    const names = Object.keys(environment).filter((name) => name !== 'NODE_ENV');
    expect(names.filter((name) => !(name in envSchema.shape))).toEqual([]);
    const grace = Number(environment['MCP_AGGREGATOR_SHUTDOWN_GRACE']);
    expect(grace + 5).toBeLessThan(Number(valueOf('TimeoutStopSec')));
    expect([valueOf('KillMode'), valueOf('Restart')]).toEqual(['mixed', 'always']);
  });

  it('runs the service: readable by its user alone, answering running calls at a stop', async () => {
    const peer = await startHoldingServer();
    const first = await startUnit();
    const config = { base_url: peer.url };
    const body = { name: 'slow', transport_type: 'HTTP', connection_config: config };
    expect((await post(first.url, `${API}/servers`, body)).status).toBe(201);
    await eventually(async () => {
      const { text } = await send(first.url, `${API}/tools`, { token: TOKEN });
      expect(text).toContain('slow.wait');
    });
    for (const name of ['credential-key', 'postgres', 'address']) {
      const { mode } = await stat(join(folder.path, 'state', name));
      expect([name, mode & 0o077]).toEqual([name, 0]);
    }
    const call = post(first.url, '/api/v1/tools/call', { name: 'slow.wait', arguments: {} });
    await eventually(() => expect(peer.held()).toBe(1));
    first.child.kill('SIGTERM');
    await eventually(async () => {
      const { status } = await send(first.url, '/health/ready');
      expect(status).toBe(503);
    });
    peer.release();
    expect((await call).status).toBe(200);
    expect(await first.exited).toBe(0);
    peer.close();
  });

  it('is started again after it was killed, with what was registered', async () => {
    const first = await startUnit();
    const body = {
      ...{ name: 'kept', transport_type: 'HTTP', auto_connect: false },
      connection_config: { base_url: 'https://kept.invalid/mcp' },
    };
    expect((await post(first.url, `${API}/servers`, body)).status).toBe(201);
    first.child.kill('SIGKILL');
    await first.exited;
    const second = await startUnit();
    const { text } = await send(second.url, `${API}/servers`, { token: TOKEN });
    expect(text).toContain('kept');
    second.child.kill(valueOf('KillMode') === 'mixed' ? 'SIGTERM' : 'SIGKILL');
    expect(await second.exited).toBe(0);
  });

  /** As systemd does: its command, environment, folders and umask; without its user and its sandbox. */
  async function startUnit() {
    const state = join(folder.path, 'state');
    await mkdir(state, {
      recursive: true,
      mode: Number.parseInt(valueOf('StateDirectoryMode'), 8),
    });
    const [node, ...args] = valueOf('ExecStart').split(' ');
    expect(node).toBe('/usr/bin/node');
    const settings = Object.entries({
      ...environment,
      MCP_AGGREGATOR_TOKENS: `me:admin:${TOKEN}`,
      MCP_AGGREGATOR_PORT: '0',
    }).map(([name, value]) => [name, value.replace('/var/lib/switchboard', state)]);
    const command = args.map((arg) => arg.replace('/opt/switchboard', process.cwd()));
    const script = `umask ${valueOf('UMask')}; exec "$0" "$@"`;
    const address = join(state, 'address');
    writeFileSync(address, '', { mode: 0o600 });
    const child = spawn('sh', ['-c', script, process.execPath, ...command], {
      cwd: state,
      env: { PATH: process.env['PATH'], ...Object.fromEntries(settings) },
      stdio: 'ignore',
    });
    running.add(child);
    const exited = new Promise<number | string | null>((resolve) => {
      child.once('exit', (code, signal) => {
        running.delete(child);
        resolve(code ?? signal);
      });
    });
    const url = await eventually(() => {
      expect(existsSync(address) && readFileSync(address, 'utf8')).toContain('http');
      return readFileSync(address, 'utf8');
    });
    return { child, url, exited };
  }

  const post = (url: string, path: string, body: object) =>
    send(url, path, { method: 'POST', token: TOKEN, body: JSON.stringify(body) });
});
