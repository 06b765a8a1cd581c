import { writeFile } from 'node:fs/promises';
import net, { type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createServer, type Server } from 'node:tls';
import { Api } from '../support/api.js';
import { temporaryFolder } from '../support/env.js';
import { eventually } from '../support/eventually.js';
import { type Answer, send } from '../support/http.js';
import { fixture } from '../support/peers.js';
import { createDatabase } from '../support/postgres.js';
import { type ServiceProcess, startProcess } from '../support/service-process.js';
import { TEST_CERTIFICATE, TEST_KEY } from '../support/tls.js';

/** Ends TLS before one replica, as a sidecar does. */
class TlsProxy {
  connections = 0;
  private target = 0;
  private readonly server: Server = createServer(
    { key: TEST_KEY, cert: TEST_CERTIFICATE },
    (client) => {
      this.connections += 1;
      const replica = net.connect(this.target, '127.0.0.1');
      client.on('error', () => replica.destroy());
      replica.on('error', () => client.destroy());
      client.pipe(replica).pipe(client);
    },
  );

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => {
      this.server.listen(0, '127.0.0.1', resolve);
    });
    return `https://localhost:${(this.server.address() as AddressInfo).port}`;
  }

  to({ url }: ServiceProcess): void {
    this.target = Number(new URL(url).port);
  }

  close(): void {
    this.server.close();
  }
}

describe('replicas that reach each other over TLS', () => {
  const proxies: TlsProxy[] = [];
  const replicas: ServiceProcess[] = [];
  const folders: Awaited<ReturnType<typeof temporaryFolder>>[] = [];

  /** `trusts`: whether Node is told to trust the certificate of the others. */
  async function start(DATABASE_URL: string, trusts: boolean): Promise<void> {
    const folder = await temporaryFolder();
    folders.push(folder);
    const trusted = join(folder.path, 'trusted.pem');
    await writeFile(trusted, TEST_CERTIFICATE);
    const proxy = new TlsProxy();
    proxies.push(proxy);
    const replica = await startProcess(folder.path, {
      DATABASE_URL,
      MCP_CREDENTIAL_KEY: 'a-key-for-this-test-only',
      MCP_AGGREGATOR_TOKENS: 'ada:admin:a-token-for-this-test-only',
      MCP_AGGREGATOR_LOG_LEVEL: 'info',
      MCP_AGGREGATOR_REPLICA_URL: await proxy.listen(),
      ...(trusts && { NODE_EXTRA_CA_CERTS: trusted }),
    });
    proxy.to(replica);
    replicas.push(replica);
  }

  beforeAll(async () => {
    const url = await createDatabase();
    for (const trusts of [true, true, false]) await start(url, trusts);
    const [first] = replicas;
    if (!first) throw new Error('no replica has started');
    await new Api(first).register({
      name: 'peer',
      transport_type: 'STDIO',
      connection_config: { command: process.execPath, args: [fixture('peer-v1.mjs'), 'stdio'] },
    });
    await eventually(() => {
      for (const { output } of replicas) {
        expect(new Set(output().match(/"url":"https:[^"]*"/g)).size).toBeGreaterThanOrEqual(2);
      }
    });
  }, 240_000);
  afterAll(async () => {
    for (const { child, exited } of replicas) {
      child.kill('SIGKILL');
      await exited;
    }
    for (const proxy of proxies) proxy.close();
    for (const folder of folders) await folder.remove();
  });

  const post = (at: number, path: string, body: object, session?: string): Promise<Answer> => {
    const { url = '', token = '' } = replicas[at] ?? {};
    return send(url, path, {
      method: 'POST',
      token,
      headers: {
        accept: 'application/json, text/event-stream',
        ...(session && { 'mcp-session-id': session }),
      },
      body: JSON.stringify(body),
    });
  };
  const sessionAt = async (at: number): Promise<string> => {
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    };
    const { headers } = await post(at, '/mcp', {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params,
    });
    return headers['mcp-session-id'] ?? '';
  };
  const ping = { jsonrpc: '2.0', id: 2, method: 'ping' };

  it('run a STDIO server for one another', async () => {
    for (const at of [0, 1]) {
      await eventually(async () => {
        const call = { name: 'peer.echo', arguments: { text: 'hi' } };
        expect((await post(at, '/api/v1/tools/call', call)).status).toBe(200);
      });
    }
    expect(proxies[0]?.connections).toBeGreaterThan(0);
  });

  it('serve the client sessions of one another', async () => {
    const [first, second] = [await sessionAt(0), await sessionAt(1)];
    expect((await post(1, '/mcp', ping, first)).status).toBe(200);
    expect((await post(0, '/mcp', ping, second)).status).toBe(200);
  });

  it('send nothing to one whose certificate they do not trust', async () => {
    const session = await sessionAt(0);
    expect((await post(2, '/mcp', ping, session)).status).toBe(404);
    expect(replicas[2]?.output()).toContain('replica.not_reached');
  });
});
