import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http.js';
import { npmServer } from '../support/servers.js';

describe('from registering a server to calling its tool', () => {
  let service: TestApp;
  let id: string;
  const ask = async (method: string, path: string, body?: object): Promise<unknown> =>
    (
      await send(service.url, path, {
        method,
        token: service.token,
        ...(body && { body: JSON.stringify(body) }),
      })
    ).body;

  beforeAll(async () => {
    service = await startApp();
  });
  afterAll(() => service.close());

  it('a server is registered, and connects by itself', async () => {
    const server = await ask('POST', '/api/v1/aggregator/servers', {
      name: 'everything',
      transport_type: 'STDIO',
      connection_config: npmServer('everything', 'stdio'),
    });
    ({ id } = server as { id: string });
    await eventually(async () => {
      expect(await ask('GET', `/api/v1/aggregator/servers/${id}`)).toMatchObject({
        status: 'CONNECTED',
      });
    });
  });

  it('its tools are found by what they do', async () => {
    await eventually(async () => {
      const found = await ask('POST', '/api/v1/search', { query: 'echo back a message' });
      expect((found as { tools: object[] }).tools[0]).toMatchObject({
        name: 'everything.echo',
        source_server: { id, name: 'everything', status: 'CONNECTED' },
      });
    });
  });

  it('a tool is called over REST', async () => {
    const call = { name: 'everything.echo', arguments: { message: 'hello' } };
    expect(await ask('POST', '/api/v1/tools/call', call)).toMatchObject({
      content: [{ type: 'text', text: 'Echo: hello' }],
      metadata: { routed_to: 'everything', server_id: id },
    });
  });

  it('the same tool is listed for, and called by, an MCP client', async () => {
    const client = new Client({ name: 'test', version: '1' });
    const headers = { authorization: `Bearer ${service.token}` };
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${service.url}/mcp`), {
        requestInit: { headers },
      }),
    );
    try {
      const { tools } = await client.listTools();
      expect(tools.map((tool) => tool.name)).toContain('everything__echo');
      const result = await client.callTool({
        name: 'everything__echo',
        arguments: { message: 'hi' },
      });
      expect(result.content).toEqual([{ type: 'text', text: 'Echo: hi' }]);
    } finally {
      await client.close();
    }
  });

  it('a removed server is neither found nor called', async () => {
    await ask('DELETE', `/api/v1/aggregator/servers/${id}`);
    await eventually(async () => {
      const found = await ask('POST', '/api/v1/search', { query: 'echo' });
      expect(JSON.stringify(found)).not.toContain('everything.');
    });
    expect(await ask('POST', '/api/v1/tools/call', { name: 'everything.echo' })).toMatchObject({
      error_code: 'TOOL_NOT_FOUND',
    });
  });
});
