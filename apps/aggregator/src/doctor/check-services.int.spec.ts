import { parseEnv } from '@app/platform';
import type { StoredServer } from '@app/registry';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { checkStoredServers } from './check-services.js';

describe(checkStoredServers.name, () => {
  let server: Server;
  let asked: (string | undefined)[];
  beforeEach(async () => {
    asked = [];
    server = createServer((request, response) => {
      asked.push(request.url);
      response.writeHead(405).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(async () => {
    await new Promise((resolve) => server.close(resolve));
  });

  const storedAt = (user: string): StoredServer => {
    const { port } = server.address() as AddressInfo;
    const url = `http://${user}127.0.0.1:${port}/mcp?a=1`;
    return { name: 'one', wanted: true, target: { kind: 'url', url } } as StoredServer;
  };

  it.each(['', 'user:password@'])('asks a server at its URL: %s', async (user) => {
    const [finding] = await checkStoredServers(parseEnv({}), [storedAt(user)]);
    expect(finding).toMatchObject({ outcome: 'ok' });
    expect(finding?.detail).not.toContain('password');
    expect(asked).toEqual(['/mcp?a=1']);
  });

  it('asks no server that the service may not connect to', async () => {
    const env = parseEnv({ MCP_AGGREGATOR_EGRESS: 'public' });
    const [finding] = await checkStoredServers(env, [storedAt('')]);
    expect(finding).toMatchObject({ outcome: 'fail' });
    expect(asked).toEqual([]);
  });
});
