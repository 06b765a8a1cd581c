import { Client as ModernSdk, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as LegacySdk } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  ElicitationCompleteNotificationSchema,
  ElicitRequestSchema,
  LoggingMessageNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { startGateway } from '../../../test/support/gateway.js';
import { eventually } from '../../../test/support/eventually.js';
import {
  fixture,
  type HttpPeer,
  httpPeer,
  npmServers,
  stdioPeer,
} from '../../../test/support/peers.js';

let modernPeer: HttpPeer;
let legacyPeer: HttpPeer;
let gateway: Awaited<ReturnType<typeof startGateway>>;
let origin: string;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  modernPeer = await httpPeer('peer-v2.mjs', ['http', 'modern']);
  legacyPeer = await httpPeer('peer-v1.mjs', ['http']);
  gateway = await startGateway({
    everything: npmServers.everything(),
    legacy: stdioPeer(fixture('peer-v1.mjs'), ['stdio']),
    modern: { kind: 'HTTP', url: modernPeer.url, headers: {} },
    web: { kind: 'HTTP', url: legacyPeer.url, headers: {} },
  });
  origin = gateway.origin;
});

afterEach(() => Promise.all(closing.splice(0).map((close) => close())));

afterAll(async () => {
  await gateway.close();
  await Promise.all([modernPeer.stop(), legacyPeer.stop()]);
});

async function legacyClient(path = '/mcp', capabilities = {}): Promise<LegacySdk> {
  const client = new LegacySdk({ name: 'old', version: '1' }, { capabilities });
  const transport = new LegacyTransport(new URL(path, origin));
  // The types of the SDK do not fit exactOptionalPropertyTypes.
  await client.connect(transport as Parameters<LegacySdk['connect']>[0]);
  closing.push(() => client.close());
  return client;
}

async function modernClient(path = '/mcp', capabilities = {}): Promise<ModernSdk> {
  const client = new ModernSdk(
    { name: 'new', version: '1' },
    { capabilities, versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL(path, origin)));
  closing.push(() => client.close());
  return client;
}

describe('log messages of a call', () => {
  async function listening(level?: 'warning'): Promise<{ client: LegacySdk; heard: unknown[] }> {
    const client = await legacyClient();
    const heard: unknown[] = [];
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
      heard.push(`${params.level} ${JSON.stringify(params.data)}`);
    });
    if (level) await client.setLoggingLevel(level);
    return { client, heard };
  }

  it('reach only the client that called', async () => {
    const [ada, bob] = [await listening(), await listening()];
    await Promise.all([
      ada.client.callTool({ name: 'web__log', arguments: { text: 'ada' } }),
      bob.client.callTool({ name: 'web__log', arguments: { text: 'bob' } }),
    ]);
    expect(ada.heard).toEqual(['debug "ada"', 'warning "ada"']);
    expect(bob.heard).toEqual(['debug "bob"', 'warning "bob"']);
  });

  it('are filtered by the level the client set', async () => {
    const { client, heard } = await listening('warning');
    await client.callTool({ name: 'web__log', arguments: { text: 'x' } });
    expect(heard).toEqual(['warning "x"']);
  });
});

describe('a URL elicitation by a server', () => {
  const withPages = async () => {
    const client = await legacyClient('/mcp', { elicitation: { url: {} } });
    const completed: string[] = [];
    client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept' }));
    client.setNotificationHandler(ElicitationCompleteNotificationSchema, ({ params }) => {
      completed.push(params.elicitationId);
    });
    return { client, completed };
  };

  it.each(['legacy__page', 'web__page'])(
    'notifies only the client that opened the page of its completion: %s',
    async (name) => {
      const [ada, bob] = [await withPages(), await withPages()];
      const { content } = await ada.client.callTool({ name, arguments: {} });
      const [{ text }] = content as [{ text: string }];
      await eventually(() => expect(ada.completed).toEqual([text]));
      expect(bob.completed).toEqual([]);
    },
  );

  it('is refused for a client that supports only form elicitation', async () => {
    const client = await legacyClient('/mcp', { elicitation: {} });
    const result = await client.callTool({ name: 'web__page', arguments: {} });
    expect(JSON.stringify(result)).toContain('does not support elicitation by');
  });
});

describe('/mcp', () => {
  it('lists the tools of all servers under valid client names', async () => {
    const client = await legacyClient();
    const { tools } = await client.listTools();
    expect(tools.map((tool) => tool.name)).toEqual(
      expect.arrayContaining(['everything__echo', 'legacy__echo', 'modern__echo']),
    );
    for (const tool of tools) expect(tool.name).toMatch(/^[a-zA-Z0-9_-]{1,48}$/);
  });

  it('accepts canonical and bare names too', async () => {
    const client = await legacyClient();
    for (const name of ['legacy.count', 'everything.get-sum']) {
      const args = { to: 0, a: 1, b: 2 };
      expect(await client.callTool({ name, arguments: args })).not.toHaveProperty('isError');
    }
    await expect(client.callTool({ name: 'echo', arguments: {} })).rejects.toThrow(/Several tools/);
    await expect(client.callTool({ name: 'nothing' })).rejects.toMatchObject({ code: -32_602 });
  });

  it('routes prompts, resources, templates and completion to the server that has them', async () => {
    const client = await legacyClient();
    await eventually(async () => {
      const { prompts } = await client.listPrompts();
      expect(prompts.map((prompt) => prompt.name)).toContain('everything__args-prompt');
      expect((await client.listResources()).resources).not.toEqual([]);
      expect((await client.listResourceTemplates()).resourceTemplates).not.toEqual([]);
    });
    const prompt = await client.getPrompt({
      name: 'everything__args-prompt',
      arguments: { city: 'Paris' },
    });
    expect(JSON.stringify(prompt.messages)).toContain('Paris');
    const { resources } = await client.listResources();
    const [resource] = resources;
    if (!resource) throw new Error('there are resources');
    const { contents } = await client.readResource({ uri: resource.uri });
    expect(contents).toHaveLength(1);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.length).toBeGreaterThan(0);
    const read = await client.readResource({ uri: 'demo://resource/dynamic/text/1' });
    expect(read.contents).toHaveLength(1);
    const completed = await client.complete({
      ref: { type: 'ref/prompt', name: 'everything__completable-prompt' },
      argument: { name: 'department', value: 'E' },
    });
    expect(completed.completion.values).toContain('Engineering');
  });

  it('names the connected servers in its instructions', async () => {
    const client = await modernClient();
    expect(client.getInstructions()).toContain('## legacy\necho what you like');
  });
});

describe('/mcp/servers/{name}', () => {
  it('presents one server with its original names', async () => {
    const client = await legacyClient('/mcp/servers/legacy');
    expect(client.getServerVersion()).toEqual({ name: 'peer-v1', version: '1.0.0' });
    expect(client.getInstructions()).toBe('echo what you like');
    const { tools } = await client.listTools();
    expect(tools.map((tool) => tool.name)).toContain('echo');
    const result = await client.callTool({ name: 'echo', arguments: { text: 'hello' } });
    expect(result).toEqual({ content: [{ type: 'text', text: 'hello' }] });
  });

  it('passes on the refusal of the server unchanged', async () => {
    const client = await legacyClient('/mcp/servers/legacy');
    const result = await client.callTool({ name: 'nothing', arguments: {} });
    expect(JSON.stringify(result)).toContain('Tool nothing not found');
  });
});
