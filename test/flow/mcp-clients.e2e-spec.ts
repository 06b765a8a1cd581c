import { Client as ModernSdk, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as LegacySdk } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { fixture, stdioPeer } from '../support/peers.js';

describe('MCP clients of the whole service', () => {
  let service: TestApp;
  const closing: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    service = await startApp();
    const registered = await api('POST', '/api/v1/aggregator/servers', peer('peer'));
    expect(registered.status).toBe(201);
    await eventually(async () => {
      const { status } = await api('POST', '/api/v1/tools/call', {
        name: 'peer.echo',
        arguments: { text: 'are you there' },
      });
      expect(status).toBe(200);
    });
  });

  afterEach(() => Promise.all(closing.splice(0).map((close) => close())));
  afterAll(() => service.close());

  const peer = (name: string): object => {
    const { command, args } = stdioPeer(fixture('peer-v1.mjs'), ['stdio']);
    return { name, transport_type: 'STDIO', connection_config: { command, args } };
  };

  async function api(method: string, path: string, body?: object, token = service.token) {
    const response = await fetch(service.url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as object) };
  }

  async function legacyClient(path = '/mcp', token = service.tokens.call): Promise<LegacySdk> {
    const client = new LegacySdk({ name: 'old', version: '1' });
    const transport = new LegacyTransport(new URL(service.url + path), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    });
    // The SDK's own types conflict with exactOptionalPropertyTypes.
    await client.connect(transport as Parameters<LegacySdk['connect']>[0]);
    closing.push(() => client.close());
    return client;
  }

  async function modernClient(path = '/mcp'): Promise<ModernSdk> {
    const client = new ModernSdk(
      { name: 'new', version: '1' },
      { versionNegotiation: { mode: 'auto' } },
    );
    const headers = { authorization: `Bearer ${service.tokens.call}` };
    await client.connect(
      new StreamableHTTPClientTransport(new URL(service.url + path), { requestInit: { headers } }),
    );
    closing.push(() => client.close());
    return client;
  }

  it('of both eras list and call tools at one endpoint', async () => {
    const [legacy, modern] = await Promise.all([legacyClient(), modernClient()]);
    expect(modern.getProtocolEra()).toBe('modern');
    for (const client of [legacy, modern]) {
      const { tools } = await client.listTools();
      expect(tools.map((tool) => tool.name)).toContain('peer__echo');
      const result = await client.callTool({ name: 'peer__echo', arguments: { text: 'hello' } });
      expect(result.content).toEqual([{ type: 'text', text: 'hello' }]);
    }
  });

  it('reach a single server at /mcp/servers/{name}', async () => {
    const client = await legacyClient('/mcp/servers/peer');
    expect(client.getServerVersion()?.name).toBe('peer-v1');
    expect((await client.listTools()).tools.map((tool) => tool.name)).toContain('echo');
  });

  it('find a tool by its description, and call it by the returned name', async () => {
    for (const client of [await legacyClient('/mcp/search'), await modernClient('/mcp/search')]) {
      const { tools } = await client.listTools();
      expect(tools.map((tool) => tool.name)).toEqual([
        'search_tools',
        'describe_tool',
        'call_tool',
        'mcp__proxy__aggregator__query',
      ]);
      expect(tools[0]?.description).toContain('peer');
      await eventually(async () => {
        const found = await client.callTool({
          name: 'search_tools',
          arguments: { query: 'echo a text' },
        });
        const { tools: hits } = found.structuredContent as {
          tools: { name: string; parameters: string }[];
        };
        expect(hits[0]).toMatchObject({ name: 'peer__echo', parameters: 'text*: string' });
      });
      const described = await client.callTool({
        name: 'describe_tool',
        arguments: { name: 'peer__echo' },
      });
      expect(described.structuredContent).toMatchObject({
        server: 'peer',
        tool: { name: 'peer__echo', inputSchema: { required: ['text'] } },
      });
      const called = await client.callTool({
        name: 'call_tool',
        arguments: { name: 'peer__echo', arguments: { text: 'found' } },
      });
      expect(called.content).toEqual([{ type: 'text', text: 'found' }]);
    }
  });

  it('with the scope read can list, and are refused calls with a reason', async () => {
    for (const path of ['/mcp', '/mcp/servers/peer']) {
      const client = await legacyClient(path, service.tokens.read);
      const [tool] = (await client.listTools()).tools.filter(({ name }) => name.endsWith('echo'));
      if (!tool) throw new Error('nothing is listed');
      await expect(
        client.callTool({ name: tool.name, arguments: { text: 'hello' } }),
      ).rejects.toThrow(/needs a token with the scope 'call'/);
    }
    const client = await legacyClient('/mcp/search', service.tokens.read);
    await client.callTool({ name: 'search_tools', arguments: { query: 'echo a text' } });
    await expect(
      client.callTool({ name: 'call_tool', arguments: { name: 'peer__echo' } }),
    ).rejects.toThrow(/needs a token with the scope 'call'/);
  });

  it('get tool errors as results, which models can read', async () => {
    const client = await legacyClient('/mcp/search');
    for (const [name, args, said] of [
      ['call_tool', { name: 'nothing' }, 'Tool not found: nothing'],
      ['call_tool', {}, 'name:'],
      ['search_tools', { query: '' }, 'query:'],
    ] as const) {
      const result = await client.callTool({ name, arguments: args });
      expect(result.isError).toBe(true);
      expect(JSON.stringify(result.content)).toContain(said);
    }
  });

  it('are notified when servers are added and removed', async () => {
    const client = await legacyClient();
    const heard: number[] = [];
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
      heard.push(1);
    });
    const { body } = await api('POST', '/api/v1/aggregator/servers', peer('second'));
    await eventually(async () => {
      expect(heard).not.toEqual([]);
      const { tools } = await client.listTools();
      expect(tools.map((tool) => tool.name)).toContain('second__echo');
    });
    const { id } = body as { id: string };
    expect((await api('DELETE', `/api/v1/aggregator/servers/${id}`)).status).toBe(204);
    await eventually(async () => {
      const { tools } = await client.listTools();
      expect(tools.map((tool) => tool.name)).not.toContain('second__echo');
    });
  });

  it('get configuration snippets', async () => {
    const { body } = await api('GET', '/api/v1/aggregator/clients?endpoint=search');
    expect(body).toMatchObject({ url: `${service.url}/mcp/search` });
  });

  it('are counted in the metrics', async () => {
    const response = await fetch(`${service.url}/metrics`, {
      headers: { authorization: `Bearer ${service.token}` },
    });
    const text = await response.text();
    expect(text).toMatch(/mcp_aggregator_routing_duration_seconds_bucket\{le="\+Inf"\} [1-9]/);
    expect(text).toMatch(
      /mcp_aggregator_execution_duration_seconds_bucket\{le="\+Inf",server="peer"\} [1-9]/,
    );
  });

  it('get a JSON-RPC error for an unreadable message', async () => {
    const answer = await fetch(`${service.url}/mcp`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' },
      body: '{"jsonrpc": ',
    });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toEqual({
      jsonrpc: '2.0',
      id: null,
      error: { code: -32_700, message: 'Parse error' },
    });
  });

  it('get 404 for an unknown server', async () => {
    expect((await api('POST', '/mcp/servers/nothing', {})).status).toBe(404);
  });

  it('do not delay the shutdown', async () => {
    const other = await startApp();
    const client = new LegacySdk({ name: 'old', version: '1' });
    const transport = new LegacyTransport(new URL(`${other.url}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${other.token}` } },
    });
    await client.connect(transport as Parameters<LegacySdk['connect']>[0]);
    await other.close();
    await client.close();
  });
});
