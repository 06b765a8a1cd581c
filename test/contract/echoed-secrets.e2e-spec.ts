import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http.js';
import { fixture, type HttpPeer, httpPeer } from '../support/peers.js';

/** Has characters that JSON escapes, and a unique part. */
const CANARY = 'canary7f3a9c';
const SECRET = `pass"word\\${CANARY}/+=`;

describe('a credential that a server repeats', () => {
  let service: TestApp;
  let api: Api;
  const peers: HttpPeer[] = [];

  beforeAll(async () => {
    service = await startApp();
    api = new Api(service);
    const [http, sse] = await Promise.all([
      httpPeer('parrot.mjs', ['http']),
      httpPeer('parrot.mjs', ['sse']),
    ]);
    peers.push(http, sse);
    const headers = { 'X-Api-Key': SECRET };
    const configs: Record<string, object> = {
      STDIO: {
        command: process.execPath,
        args: [fixture('parrot.mjs'), 'stdio'],
        env: { API_KEY: SECRET },
      },
      HTTP: { base_url: http.url, headers },
      SSE: { url: sse.url, headers },
    };
    for (const [transport_type, connection_config] of Object.entries(configs)) {
      await api.register({
        name: transport_type.toLowerCase(),
        transport_type,
        connection_config,
      });
    }
    await eventually(async () => {
      expect(Object.values(await api.statuses())).toEqual(['CONNECTED', 'CONNECTED', 'CONNECTED']);
    });
  });
  afterAll(async () => {
    await service.close();
    await Promise.all(peers.map((peer) => peer.stop()));
  });

  const call = async (name: string): Promise<{ status: number; text: string; body: unknown }> =>
    eventually(async () => {
      const body = JSON.stringify({ name });
      const answer = await send(service.url, '/api/v1/tools/call', {
        method: 'POST',
        token: service.tokens.call,
        body,
      });
      // Its tools are discovered shortly after it is connected.
      expect(answer.status).not.toBe(404);
      return answer;
    });

  it.each(['stdio', 'http', 'sse'])('reaches no caller over REST: %s', async (server) => {
    const said = await call(`${server}.say`);
    expect(said.status).toBe(200);
    expect(said.body).toMatchObject({
      structuredContent: { number: '9007199254740993', key: '********' },
    });
    expect(said.text).toContain('key ********, as JSON');
    const failed = await call(`${server}.fail`);
    expect(failed.status).toBe(502);
    expect(failed.text).toContain('no good: key ********');
    const refused = await call(`${server}.refuse`);
    expect(refused.status).toBe(502);
    for (const { text } of [said, failed, refused]) expect(text).not.toContain(CANARY);
  });

  it('appears in no list, log or state of the service', async () => {
    const { servers } = (await api.call('GET', '/servers')).body as { servers: { id: string }[] };
    const texts = await Promise.all(
      servers.flatMap(({ id }) =>
        ['', '/tools', '/logs', '/health', '/history'].map((part) =>
          send(service.url, `/api/v1/aggregator/servers/${id}${part}`, { token: service.token }),
        ),
      ),
    );
    expect(texts.map(({ status }) => status)).toEqual(texts.map(() => 200));
    expect(texts.filter(({ text }) => text.includes(CANARY))).toEqual([]);
    expect(texts.filter(({ text }) => text.includes('sends ********'))).toHaveLength(3);
  });

  it.each(['stdio', 'http', 'sse'])('reaches no MCP client: %s', async (server) => {
    const client = new Client({ name: 'test', version: '1' });
    const headers = { authorization: `Bearer ${service.tokens.call}` };
    const heard: unknown[] = [];
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
      heard.push(params);
    });
    const address = new URL(`${service.url}/mcp/servers/${server}`);
    const transport = new StreamableHTTPClientTransport(address, { requestInit: { headers } });
    await client.connect(transport as Parameters<Client['connect']>[0]);
    try {
      await client.setLoggingLevel('debug');
      const failure = client.callTool({ name: 'fail' }).catch((error: unknown) => error);
      const told = [
        client.getInstructions(),
        client.getServerVersion(),
        await client.listTools(),
        await client.listResources(),
        await client.readResource({ uri: 'parrot://a' }),
        await client.callTool({ name: 'log' }),
        String(await failure),
      ];
      expect(JSON.stringify([told, heard])).not.toContain(CANARY);
      expect(JSON.stringify(told[2])).toContain('sends ********');
      expect(JSON.stringify(told[5])).toContain('key ********');
      expect(told[6]).toContain('no good: key ********');
    } finally {
      await client.close();
    }
  });
});
