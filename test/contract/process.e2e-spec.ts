import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer as listen } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { temporaryFolder } from '../support/env.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http.js';
import { httpPeer, processesWith } from '../support/peers.js';
import { createDatabase } from '../support/postgres.js';
import { npmServer } from '../support/servers.js';
import { launch, type ServiceProcess, startProcess } from '../support/service-process.js';
import { TEST_CERTIFICATE, TEST_KEY } from '../support/tls.js';

/** A user without any rights on this machine. */
const UNPRIVILEGED = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--'];

interface Listed {
  readonly name: string;
  readonly status: string;
  readonly tool_count: number;
}

async function listServers(service: ServiceProcess): Promise<readonly Listed[]> {
  const { body } = await send(service.url, '/api/v1/aggregator/servers', { token: service.token });
  return (body as { servers: Listed[] }).servers;
}

describe('the service as a process', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  const running: Pick<ServiceProcess, 'child' | 'exited'>[] = [];
  const others: (() => unknown)[] = [];
  const start = async (...args: Parameters<typeof startProcess>): Promise<ServiceProcess> => {
    const service = await startProcess(...args);
    running.push(service);
    return service;
  };
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(async () => {
    for (const { child, exited } of running.splice(0)) {
      child.kill('SIGKILL');
      await exited;
    }
    for (const end of others.splice(0)) await end();
    await folder.remove();
  });

  it('keeps its servers across a restart, and reconnects them by itself', async () => {
    const first = await start(folder.path);
    await send(first.url, '/api/v1/aggregator/servers', {
      method: 'POST',
      token: first.token,
      body: JSON.stringify({
        name: 'memory',
        transport_type: 'STDIO',
        connection_config: npmServer('memory'),
      }),
    });
    const connected = (service: ServiceProcess): Promise<void> =>
      eventually(async () => {
        expect(await listServers(service)).toMatchObject([{ name: 'memory', status: 'CONNECTED' }]);
        expect((await listServers(service))[0]?.tool_count).toBeGreaterThan(0);
      });
    await connected(first);
    first.child.kill('SIGTERM');
    expect(await first.exited).toBe(0);
    const second = await start(folder.path);
    expect(second.token).toBe(first.token);
    await connected(second);
  });

  it('logs its address, but not its modules and routes', async () => {
    const service = await start(folder.path, {
      MCP_AGGREGATOR_TOKENS: 'me:admin:a-token-of-this-test',
    });
    const messages = await eventually(() => {
      const lines = service.output().trim().split('\n');
      const found = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
      expect(found.at(-1)).toMatchObject({ msg: 'listening', url: service.url });
      return found;
    });
    expect(messages.length).toBeLessThan(5);
    for (const line of messages) expect(line).toMatchObject({ service: 'mcp-aggregator-service' });
  });

  it('calls a server over TLS whose certificate Node is told to trust', async () => {
    const peer = await httpPeer('peer-v2.mjs', ['http']);
    const tls = createServer({ key: TEST_KEY, cert: TEST_CERTIFICATE }, (client) => {
      const plain = connect(Number(new URL(peer.url).port), '127.0.0.1');
      for (const socket of [client, plain]) socket.on('error', () => socket.destroy());
      client.pipe(plain).pipe(client);
    });
    await new Promise<void>((resolve) => {
      tls.listen(0, '127.0.0.1', resolve);
    });
    others.push(
      () => peer.stop(),
      () => tls.close(),
    );
    const { port } = tls.address() as AddressInfo;
    const trusted = join(folder.path, 'ca.pem');
    writeFileSync(trusted, TEST_CERTIFICATE);
    const service = await start(folder.path, { NODE_EXTRA_CA_CERTS: trusted });
    await send(service.url, '/api/v1/aggregator/servers', {
      method: 'POST',
      token: service.token,
      body: JSON.stringify({
        name: 'secured',
        transport_type: 'HTTP',
        connection_config: { base_url: `https://localhost:${port}/mcp` },
      }),
    });
    await eventually(async () => {
      expect(await listServers(service)).toMatchObject([{ name: 'secured', status: 'CONNECTED' }]);
      expect((await listServers(service))[0]?.tool_count).toBeGreaterThan(0);
    });
    await eventually(async () => {
      const answer = await send(service.url, '/api/v1/tools/call', {
        method: 'POST',
        token: service.token,
        body: JSON.stringify({ name: 'secured.echo', arguments: { text: 'in secret' } }),
      });
      expect(answer.body).toMatchObject({ content: [{ text: 'in secret' }] });
    });
  });

  it('registers new servers of a servers file, and leaves registered ones unchanged', async () => {
    const file = join(folder.path, 'mcp.json');
    const write = (servers: object): void =>
      writeFileSync(file, JSON.stringify({ mcpServers: servers }));
    const remote = { url: 'https://a.example/mcp', disabled: true };
    write({ one: remote, Bad: { command: 3 } });
    const first = await start(folder.path, {}, ['--config', file]);
    expect((await listServers(first)).map((server) => server.name)).toEqual(['one']);
    expect(first.output()).toContain('was not registered');
    first.child.kill('SIGTERM');
    await first.exited;
    write({ one: { ...remote, url: 'https://b.example/mcp' }, two: remote });
    const second = await start(folder.path, { MCP_AGGREGATOR_CONFIG: file });
    expect((await listServers(second)).map((server) => server.name)).toEqual(['one', 'two']);
  });

  it('applies the views of a servers file in YAML at each start, the second time without a change', async () => {
    const file = join(folder.path, 'servers.yaml');
    const lines = [
      'mcpServers:',
      '  one: { url: https://a.example/mcp, disabled: true }',
      'views:',
      '  some: { rules: [{ server: one, name: get_* }] }',
      '  broken: { rules: [{ server: missing }] }',
    ];
    writeFileSync(file, lines.join('\n'));
    const historyOf = async (service: Awaited<ReturnType<typeof start>>): Promise<unknown> => {
      const path = '/api/v1/aggregator/policy/history';
      return (await send(service.url, path, { token: service.token })).body;
    };
    const first = await start(folder.path, {}, ['--config', file]);
    const history = await historyOf(first);
    expect(history).toMatchObject({ entries: [{ change: 'view.saved', subject: 'some' }] });
    expect(first.output()).toContain('No server is named missing; register it first');
    first.child.kill('SIGTERM');
    await first.exited;
    const second = await start(folder.path, {}, ['--config', file]);
    expect(await historyOf(second)).toEqual(history);
  });

  it('ends after SIGTERM although a server ignores it, and leaves no process of its servers behind', async () => {
    const marker = `SWITCHBOARD_TEST_MARKER=${folder.path}`;
    const service = await start(folder.path);
    const stubborn = {
      command: '/bin/sh',
      args: [
        '-c',
        `trap "" TERM; "${process.execPath}" "${npmServer('everything').args[0]}" stdio & wait`,
      ],
      env: { SWITCHBOARD_TEST_MARKER: folder.path },
    };
    await send(service.url, '/api/v1/aggregator/servers', {
      method: 'POST',
      token: service.token,
      body: JSON.stringify({
        name: 'stubborn',
        transport_type: 'STDIO',
        connection_config: stubborn,
      }),
    });
    await eventually(() => {
      expect(processesWith(marker).length).toBeGreaterThan(1);
      return Promise.resolve();
    });
    service.child.kill('SIGTERM');
    expect(await service.exited).toBe(0);
    await eventually(() => expect(processesWith(marker)).toEqual([]));
  });

  it('prints its options, and starts nothing', async () => {
    const service = launch(join(folder.path, 'data'), {}, ['--help']);
    running.push(service);
    expect(await service.exited).toBe(0);
    expect(service.output()).toContain('npm start -- [--config <file>]');
    expect(existsSync(join(folder.path, 'data'))).toBe(false);
  });

  describe('refuses to start, with words and without a stack,', () => {
    const refusal = async (
      settings: Record<string, string>,
      ...args: string[]
    ): Promise<string> => {
      const service = launch(folder.path, settings, args);
      running.push(service);
      expect(await service.exited).toBe(1);
      expect(service.output()).not.toMatch(/^\s+at /m);
      return service.output();
    };

    it('with every wrong setting named at once', async () => {
      const output = await refusal({
        MCP_AGGREGATOR_PORT: 'eighty',
        MCP_AGGREGATOR_MAX_SERVERS: '0',
        DATABASE_URL: 'mysql://secret-password@x',
      });
      expect(output).toContain('MCP_AGGREGATOR_PORT must be a whole number');
      expect(output).toContain('MCP_AGGREGATOR_MAX_SERVERS must be at least 1');
      expect(output).toContain('DATABASE_URL must be a URL');
      expect(output).not.toContain('secret-password');
    });

    it('on a non-loopback address without configured tokens', async () => {
      expect(await refusal({ MCP_AGGREGATOR_HOST: '0.0.0.0' })).toContain('MCP_AGGREGATOR_TOKENS');
    });

    it('with DATABASE_URL and no key of its own', async () => {
      const output = await refusal({ DATABASE_URL: 'postgres://127.0.0.1/x' });
      expect(output).toContain('MCP_CREDENTIAL_KEY is required with DATABASE_URL');
    });

    it('with another key than the stored credentials were encrypted with', async () => {
      const database = { DATABASE_URL: await createDatabase() };
      const first = await start(folder.path, {
        ...database,
        MCP_CREDENTIAL_KEY: 'the first key of all',
      });
      first.child.kill('SIGTERM');
      await first.exited;
      const output = await refusal({ ...database, MCP_CREDENTIAL_KEY: 'another key entirely' });
      expect(output).toContain('MCP_CREDENTIAL_KEY is not the key');
    });

    it('on a port that is in use, which it names', async () => {
      const other = listen().listen(0, '127.0.0.1');
      await once(other, 'listening');
      others.push(() => other.close());
      const { port } = other.address() as AddressInfo;
      const output = await refusal({ MCP_AGGREGATOR_PORT: String(port) });
      expect(output).toContain(
        `Cannot listen on port ${port} of 127.0.0.1: another program uses it. Stop that program, or choose another port with MCP_AGGREGATOR_PORT`,
      );
    });

    it('with an address that this machine does not have', async () => {
      const output = await refusal({
        MCP_AGGREGATOR_HOST: '192.0.2.1',
        MCP_AGGREGATOR_TOKENS: 'test:admin:a-token-for-this-test-only',
      });
      expect(output).toContain('of 192.0.2.1: this machine has no such address');
    });

    it('with a data folder that it may not write to', async () => {
      const file = join(folder.path, 'file');
      writeFileSync(file, '');
      const output = await refusal({ MCP_AGGREGATOR_DATA_DIR: join(file, 'data') });
      expect(output).toContain(`The data folder ${join(file, 'data')} cannot be used: ENOTDIR`);
      // As a user without rights here: the folder exists and is readable, but not writable.
      chmodSync(folder.path, 0o755);
      const service = launch(folder.path, {}, [], UNPRIVILEGED);
      running.push(service);
      expect(await service.exited).toBe(1);
      expect(service.output()).toContain('cannot be used: EACCES');
      expect(service.output()).toContain('MCP_AGGREGATOR_DATA_DIR');
      expect(service.output()).not.toMatch(/^\s+at /m);
    });

    it('with unknown options', async () => {
      const output = await refusal({}, '--unheard-of');
      expect(output).toContain("Unknown option '--unheard-of'");
      expect(output).toContain('npm start -- --help');
      expect(await refusal({}, '--config')).toContain('--config');
    });

    it.each([
      'dist/apps/aggregator/src/main.js',
      'dist/apps/aggregator/src/cli.js',
      'scripts/build-if-needed.mjs',
    ])('on a Node below the floor: %s', (program) => {
      const older = `Object.defineProperty(process, 'version', { value: 'v20.18.3' })`;
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        ['--import', `data:text/javascript,${encodeURIComponent(older)}`, program],
        { encoding: 'utf8' },
      );
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
      expect(stderr).toBe(
        'Switchboard needs Node 20.19 or newer, and this is Node 20.18.3. Get a newer one at https://nodejs.org.\n',
      );
    });

    it('with an invalid servers file', async () => {
      const file = join(folder.path, 'broken.json');
      writeFileSync(file, '{');
      expect(await refusal({}, '--config', file)).toContain('it is not valid JSON');
    });

    it('in a data folder that another process uses', async () => {
      await start(folder.path);
      expect(await refusal({})).toContain('Another Switchboard already uses the data folder');
    });

    it('without its database, and does not print its password', async () => {
      const output = await refusal({
        DATABASE_URL: 'postgres://user:secret-password@127.0.0.1:9/x',
        MCP_CREDENTIAL_KEY: 'a key for this test alone',
      });
      expect(output).toContain('database');
      expect(output).not.toContain('secret-password');
    });
  });
});
