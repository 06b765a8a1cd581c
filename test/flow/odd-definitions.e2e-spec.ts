import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { engines } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { fixture } from '../support/peers.js';

const tools = [
  { name: 'untyped', inputSchema: { properties: { id: { type: 'string' } } } },
  { name: 'titled', title: 7, inputSchema: { type: 'object' } },
  { name: 'text', inputSchema: { type: 'string' } },
  {
    name: 'output',
    inputSchema: { type: 'object' },
    outputSchema: { type: 'object', pattern: '(' },
  },
  { name: 7, inputSchema: { type: 'object' } },
  'no object',
];
const prompts = [
  { name: 'odd', arguments: [{}] },
  { name: 'null', description: null },
];
const resources = [{ uri: 'odd://nameless' }, { uri: 'odd://sized', name: 'sized', size: 'big' }];
const resourceTemplates = [{ uriTemplate: 'odd://{x}', name: 'x', icons: 'none' }];
const lists = { tools, prompts, resources, resourceTemplates };

describe.each(engines)('definitions that clients refuse, on %s', (engine) => {
  let app: TestApp;
  let id: string;
  const clients: Client[] = [];

  const clientAt = async (path: string): Promise<Client> => {
    const client = new Client({ name: 'strict', version: '1' });
    const transport = new StreamableHTTPClientTransport(new URL(path, app.url), {
      requestInit: { headers: { authorization: `Bearer ${app.token}` } },
    });
    await client.connect(transport as Parameters<Client['connect']>[0]);
    clients.push(client);
    return client;
  };
  const register = (name: string, listed: object): Promise<string> =>
    new Api(app).register({
      name,
      transport_type: 'STDIO',
      connection_config: {
        command: process.execPath,
        args: [fixture('lists.mjs'), JSON.stringify(listed)],
      },
    });

  beforeAll(async () => {
    app = await startApp(engine === 'PGlite' ? { DATABASE_URL: '' } : {});
    id = await register('odd', lists);
    await register('plain', { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] });
  });
  afterAll(async () => {
    await Promise.all(clients.map((client) => client.close()));
    await app.close();
  });

  it('do not hide other definitions from strict clients, and are repaired where possible', async () => {
    const client = await clientAt('/mcp');
    await eventually(async () => {
      const listed = await client.listTools();
      expect(listed.tools.map(({ name }) => name)).toEqual([
        'mcp__proxy__aggregator__query',
        'odd__output',
        'odd__titled',
        'odd__untyped',
        'plain__echo',
      ]);
      expect((await client.listPrompts()).prompts).toEqual([{ name: 'odd__null' }]);
      expect((await client.listResources()).resources).toEqual([
        { uri: 'odd://nameless', name: 'odd://nameless' },
        { uri: 'odd://sized', name: 'sized' },
      ]);
      expect((await client.listResourceTemplates()).resourceTemplates).toHaveLength(1);
    });
    const answer = await client.callTool({ name: 'odd__untyped', arguments: { id: '1' } });
    expect(answer.content).toEqual([{ type: 'text', text: 'untyped' }]);
  });

  it('are unchanged at the address of their server', async () => {
    const client = await clientAt('/mcp/servers/odd');
    const listed = (method: string) => client.request({ method, params: {} }, ResultSchema);
    expect(await listed('tools/list')).toEqual({ tools });
    expect(await listed('prompts/list')).toEqual({ prompts });
    expect(await listed('resources/list')).toEqual({ resources });
    expect(await listed('resources/templates/list')).toEqual({ resourceTemplates });
  });

  it('are named in the warnings of their server, each with the reason', async () => {
    await eventually(async () => {
      const { body } = await new Api(app).call('GET', `/servers/${id}`);
      const warnings = body['warnings'];
      for (const warning of [
        /^tool "untyped" is published in a repaired form: .*"type": "object", which was added$/,
        /^tool "titled" is published in a repaired form: its title was left out/,
        /^tool "text" is not published: the type of its input schema is not "object"$/,
        /^tool "output" is published in a repaired form: in its output schema .*: \/pattern$/,
        /^tool "" is not published: it has no name that is text$/,
        /^1 prompt not published, because its arguments\[0\] has no name: odd$/,
        /^1 prompt published in a repaired form, .*: null$/,
        /^1 resource published in a repaired form, .*: odd:\/\/nameless$/,
        /^1 resource published in a repaired form, .*: odd:\/\/sized$/,
        /^1 resource template published in a repaired form, .*: odd:\/\/\{x\}$/,
      ]) {
        expect(warnings).toContainEqual(expect.stringMatching(warning));
      }
    });
  });
});
