import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { z } from 'zod';
import { temporaryFolder } from '../support/env.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http.js';
import { fixture, stdioPeer } from '../support/peers.js';
import { type ServiceProcess, startProcess } from '../support/service-process.js';

const CLIENTS = '/api/v1/aggregator/clients';
const programs = z.object({
  mcpServers: z.object({
    switchboard: z.object({
      command: z.string(),
      args: z.array(z.string()),
      env: z.record(z.string(), z.string()),
    }),
  }),
});

describe('a client snippet', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let service: ServiceProcess;

  beforeAll(async () => {
    folder = await temporaryFolder();
    service = await startProcess(folder.path);
    const { command, args } = stdioPeer(fixture('peer-v1.mjs'), ['stdio']);
    const connection_config = { command, args };
    const { token } = service;
    const { status } = await send(service.url, '/api/v1/aggregator/servers', {
      method: 'POST',
      token,
      body: JSON.stringify({ name: 'peer', transport_type: 'STDIO', connection_config }),
    });
    expect(status).toBe(201);
    await eventually(async () => {
      const { body } = await send(service.url, '/api/v1/aggregator/servers', { token });
      const { servers } = body as { servers: { status: string; tool_count: number }[] };
      expect(servers).toMatchObject([{ status: 'CONNECTED' }]);
      expect(servers[0]?.tool_count).toBeGreaterThan(0);
    });
  });
  beforeAll(async () => {
    const rules = [{ name: 'echo' }];
    const { status } = await send(service.url, '/api/v1/aggregator/views', {
      method: 'POST',
      token: service.token,
      body: JSON.stringify({ slug: 'echoes', rules }),
    });
    expect(status).toBe(201);
  });
  afterAll(async () => {
    service.child.kill('SIGTERM');
    await service.exited;
    await folder.remove();
  });

  const textOf = async (path: string, accept = '*/*'): Promise<{ type: string; text: string }> => {
    const response = await fetch(`${service.url}${CLIENTS}${path}`, {
      headers: { authorization: `Bearer ${service.token}`, accept },
    });
    expect(response.status).toBe(200);
    return { type: response.headers.get('content-type') ?? '', text: await response.text() };
  };

  it.each([
    ['', 'peer__echo'],
    ['?endpoint=search', 'search_tools'],
    ['?view=echoes', 'peer__echo'],
    ['?view=echoes&endpoint=search', 'search_tools'],
  ])('starts the bridge of Claude Desktop as it is written: %s', async (query, tool) => {
    const { text } = await textOf(`/claude-desktop${query}`);
    const pasted = programs.parse(JSON.parse(text.replaceAll('YOUR_TOKEN', service.token)));
    const client = new Client({ name: 'desktop', version: '1' });
    // Claude Desktop starts programs in a folder of its own.
    await client.connect(
      new StdioClientTransport({ ...pasted.mcpServers.switchboard, cwd: folder.path }),
    );
    try {
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toContain(tool);
    } finally {
      await client.close();
    }
  });

  it('points to what a view offers, and refuses what is no name of one', async () => {
    const urlOf = async (query: string): Promise<unknown> => {
      const { body } = await send(service.url, `${CLIENTS}${query}`, { token: service.token });
      return (body as { url: string }).url;
    };
    expect(await urlOf('?view=echoes')).toBe(`${service.url}/mcp/views/echoes`);
    expect(await urlOf('?view=echoes&endpoint=search')).toBe(
      `${service.url}/mcp/views/echoes/search`,
    );
    const refused = await send(service.url, `${CLIENTS}?view=../admin`, { token: service.token });
    expect(refused.status).toBe(422);
  });

  it('is returned as plain text for each client', async () => {
    const { body } = await send(service.url, CLIENTS, { token: service.token });
    const { clients } = body as { clients: { id: string; snippet: string }[] };
    expect(clients.length).toBeGreaterThan(3);
    for (const { id, snippet } of clients) {
      expect(await textOf(`/${id}`)).toEqual({ type: 'text/plain; charset=utf-8', text: snippet });
    }
  });

  it('is one plain text for all clients with Accept: text/plain, and JSON otherwise', async () => {
    const { type, text } = await textOf('', 'text/plain');
    expect(type).toBe('text/plain; charset=utf-8');
    expect(text).toContain('# Cursor: ~/.cursor/mcp.json');
    expect(text).toContain('claude mcp add');
    for (const accept of ['*/*', 'text/plain, application/json']) {
      expect((await textOf('', accept)).type).toContain('application/json');
    }
  });

  it('lists the known clients when an unknown one is requested', async () => {
    const answer = await send(service.url, `${CLIENTS}/unheard-of`, { token: service.token });
    expect(answer).toMatchObject({
      status: 404,
      body: { error_code: 'NOT_FOUND', detail: expect.stringContaining('claude-desktop') },
    });
  });
});
