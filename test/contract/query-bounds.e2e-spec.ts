import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { longestBlock } from '../support/loop-delay.js';
import { fixture, stdioPeer } from '../support/peers.js';

/** A slice is 10 ms, an uninterruptible step 50 ms; the rest is slack. Without limits it took 10 s and more. */
const BLOCK_MS = 400;
const QUERY = 'mcp__proxy__aggregator__query';

describe('what is asked of many servers', () => {
  let service: TestApp;
  let api: Api;
  const clients: Client[] = [];

  beforeAll(async () => {
    service = await startApp();
    api = new Api(service);
    for (const kind of ['prose', 'blocks', 'members']) {
      const { command, args } = stdioPeer(fixture('long-answers.mjs'), [kind]);
      const connection_config = { command, args };
      await api.register({ name: kind, transport_type: 'STDIO', connection_config });
    }
    await eventually(async () => {
      const { body } = await api.call('GET', '/tools');
      expect(body['total']).toBe(3);
    });
  });
  afterAll(async () => {
    await Promise.all(clients.map((client) => client.close()));
    await service.close();
  });

  async function clientOf(path: string): Promise<Client> {
    const client = new Client({ name: 'test', version: '1' });
    const transport = new StreamableHTTPClientTransport(new URL(service.url + path), {
      requestInit: { headers: { authorization: `Bearer ${service.tokens.call}` } },
    });
    // The SDK's own types conflict with exactOptionalPropertyTypes.
    await client.connect(transport as Parameters<Client['connect']>[0]);
    clients.push(client);
    return client;
  }

  it.each(['prose', 'blocks', 'members'])(
    'is answered with a part of %s that would take long to read, without blocking the event loop',
    async (kind) => {
      const { result, blockedMs } = await longestBlock(() =>
        api.call('POST', '/query', { query: 'where is the fox', servers: [kind] }),
      );
      expect(result.status).toBe(200);
      expect(result.body['metadata']).toMatchObject({
        serversSucceeded: 1,
        servers: [{ name: kind, status: 'succeeded' }],
      });
      expect(blockedMs).toBeLessThan(BLOCK_MS);
    },
  );

  const tooMany = Array.from({ length: 50_000 }, (_, i) => `server-${i}`);
  const noNames = Array<number>(100_000).fill(1);
  const tooLong = ['x'.repeat(1_000)];

  it.each([
    ['too many names', tooMany, 'at most 1000'],
    ['what are no names', noNames.slice(0, 900), 'list of server names'],
    ['very much that is no name', noNames, 'at most 1000'],
    ['names that are too long', tooLong, 'at most 255'],
  ])('refuses %s of servers on every entry', async (_, servers, said) => {
    const [all, search] = await Promise.all([clientOf('/mcp'), clientOf('/mcp/search')]);
    const args = { query: 'where is the fox', servers };
    const asked: [string, () => Promise<unknown>][] = [
      ['REST', () => api.call('POST', '/query', args)],
      ['/mcp', () => all.callTool({ name: QUERY, arguments: args })],
      ['/mcp/search', () => search.callTool({ name: QUERY, arguments: args })],
      [
        'call_tool',
        () => search.callTool({ name: 'call_tool', arguments: { name: QUERY, arguments: args } }),
      ],
      ['search_tools', () => search.callTool({ name: 'search_tools', arguments: args })],
    ];
    for (const [entry, ask] of asked) {
      const { result, blockedMs } = await longestBlock(() => ask().catch(textOf));
      const text = JSON.stringify(result);
      expect([entry, text]).toEqual([entry, expect.stringContaining(said)]);
      expect(text.length).toBeLessThan(2_000);
      expect(blockedMs).toBeLessThan(BLOCK_MS);
    }
  });

  it('refuses texts that are too long where a model can read why', async () => {
    const search = await clientOf('/mcp/search');
    const long = 'x '.repeat(100_000);
    for (const [name, args] of [
      ['search_tools', { query: long }],
      ['describe_tool', { name: long }],
    ] as const) {
      const result = await search.callTool({ name, arguments: args });
      expect(result.isError).toBe(true);
      expect(JSON.stringify(result).length).toBeLessThan(1_000);
    }
    await expect(search.callTool({ name: QUERY, arguments: { query: long } })).rejects.toThrow(
      'Invalid query parameters',
    );
  });
});

/** The data of a JSON-RPC error says what is wrong. */
function textOf(error: unknown): unknown {
  return error instanceof Error && 'data' in error ? error.data : String(error);
}
