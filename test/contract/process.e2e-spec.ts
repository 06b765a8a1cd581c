import { writeFileSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
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

  it('finds after a restart what it was told before, and connects it again by itself', async () => {
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

  it('says in its log where it listens, and nothing of its modules and routes', async () => {
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

  it('registers what a servers file has anew, and leaves what is known as it is', async () => {
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

  it('ends within ten seconds of SIGTERM and leaves no process of its servers behind', async () => {
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
    const asked = Date.now();
    service.child.kill('SIGTERM');
    await service.exited;
    expect(Date.now() - asked).toBeLessThan(10_500);
    expect(processesWith(marker)).toEqual([]);
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

    it('on an address that others reach, without configured tokens', async () => {
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

    it('with a servers file that is none', async () => {
      const file = join(folder.path, 'broken.json');
      writeFileSync(file, '{');
      expect(await refusal({}, '--config', file)).toContain('it is not valid JSON');
    });

    it('in a data folder that another one uses', async () => {
      await start(folder.path);
      expect(await refusal({})).toContain('Another Switchboard already uses the data folder');
    });

    it('without its database, and shows no password of it', async () => {
      const output = await refusal({
        DATABASE_URL: 'postgres://user:secret-password@127.0.0.1:9/x',
        MCP_CREDENTIAL_KEY: 'a key for this test alone',
      });
      expect(output).toContain('database');
      expect(output).not.toContain('secret-password');
    });
  });
});
