import type { UpstreamSession } from '@app/mcp-client';
import { Egress, LOCAL_EGRESS } from '@app/platform';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ServerProbe } from './server-probe.js';

describe(ServerProbe.name, () => {
  let server: Server;
  let port: number;
  let seen: IncomingHttpHeaders[];

  beforeAll(async () => {
    server = createServer((request, response) => {
      seen.push(request.headers);
      const moved = request.url === '/moved';
      response.writeHead(moved ? 302 : 200, moved ? { location: '/' } : {}).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  });
  beforeEach(() => {
    seen = [];
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const probe = (url: string, egress = new Egress()) =>
    new ServerProbe(egress).probe({ healthCheckUrl: url }, {} as UpstreamSession);

  it('sends no credentials of any kind to the URL', async () => {
    await expect(probe(`http://user:pass@127.0.0.1:${port}/`)).resolves.toMatchObject({
      kind: 'healthy',
    });
    expect(seen).toHaveLength(1);
    for (const name of ['authorization', 'cookie', 'mcp-session-id']) {
      expect(seen[0]).not.toHaveProperty(name);
    }
  });

  it('does not follow a redirect', async () => {
    await expect(probe(`http://127.0.0.1:${port}/moved`)).resolves.toMatchObject({
      kind: 'failed',
    });
    expect(seen).toHaveLength(1);
  });

  it('reports in words that the connection was refused', async () => {
    await expect(probe('http://127.0.0.1:1/')).resolves.toEqual({
      kind: 'failed',
      error: 'Connection refused (ECONNREFUSED)',
    });
  });

  it('reports that the URL is not allowed', async () => {
    const elsewhere = new Egress(LOCAL_EGRESS, (_name, done) =>
      done(null, [{ address: '169.254.169.254', family: 4 }]),
    );
    await expect(probe(`http://health.example:${port}/`, elsewhere)).resolves.toEqual({
      kind: 'failed',
      error: expect.stringContaining('MCP_AGGREGATOR_EGRESS_ALLOW'),
    });
    const shut = new Egress({ ...LOCAL_EGRESS, mode: 'public' });
    await expect(probe(`http://127.0.0.1:${port}/`, shut)).resolves.toEqual({
      kind: 'failed',
      error: expect.stringContaining('MCP_AGGREGATOR_EGRESS=public'),
    });
    expect(seen).toEqual([]);
  });
});
