import { Client as ModernSdk } from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernStdio } from '@modelcontextprotocol/client/stdio';
import { Client as LegacySdk } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as LegacyStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import {
  ElicitRequestSchema,
  LoggingMessageNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { temporaryFolder } from '../support/env.js';
import { eventually } from '../support/eventually.js';
import { GuardedServer } from '../support/guarded-server.js';
import { fixture, httpPeer, stdioPeer } from '../support/peers.js';

/** The built program as installed, run by this Node. */
const program = join(process.cwd(), 'dist/apps/aggregator/src/cli.js');

describe('switchboard', () => {
  let service: TestApp;
  const { command, args } = stdioPeer(fixture('peer-v1.mjs'), ['stdio']);

  beforeAll(async () => {
    service = await startApp();
    const added = await run('add', 'peer', '--', command, ...args);
    expect(added).toMatchObject({ code: 0, stderr: '' });
    await eventually(async () => {
      const { code } = await run('call', 'peer.echo', 'text=ready');
      expect(code).toBe(0);
    });
  });
  afterAll(() => service.close());

  const env = (): Record<string, string> => ({
    PATH: process.env['PATH'] ?? '',
    SWITCHBOARD_URL: service.url,
    SWITCHBOARD_TOKEN: service.token,
  });

  async function run(...given: string[]) {
    return runWith(env(), ...given);
  }

  async function runWith(variables: Record<string, string>, ...given: string[]) {
    const child = spawn(process.execPath, [program, ...given], { env: variables });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => (stdout += part));
    child.stderr.setEncoding('utf8').on('data', (part: string) => (stderr += part));
    const [code] = (await once(child, 'close')) as [number];
    return { code, stdout, stderr };
  }

  it('lists servers, for people and for programs', async () => {
    const { stdout } = await run('servers');
    expect(stdout).toMatch(/^NAME +STATUS +TRANSPORT +TOOLS\npeer +CONNECTED +STDIO +\d+\n$/);
    const { servers } = JSON.parse((await run('servers', '--json')).stdout) as {
      servers: { name: string }[];
    };
    expect(servers.map((server) => server.name)).toEqual(['peer']);
  });

  it('finds and calls tools', async () => {
    await eventually(async () => {
      expect((await run('search', 'echo', 'a', 'text')).stdout).toContain('peer.echo');
    });
    expect(await run('call', 'peer.echo', 'text=hello')).toMatchObject({
      code: 0,
      stdout: 'hello\n',
    });
    expect((await run('call', 'peer.count', '{"to": 2}')).stdout).toBe('counted to 2\n');
  });

  it('prints the URL for OAuth consent', async () => {
    const peer = await httpPeer('peer-v2.mjs', ['http']);
    const guarded = await GuardedServer.before(peer);
    try {
      const added = await run('add', 'guarded', '--server-url', guarded.url, '--json');
      const { id } = JSON.parse(added.stdout) as { id: string };
      const { code, stdout } = await run('authorize', 'guarded');
      expect(code).toBe(0);
      expect(stdout).toContain(`${guarded.origin}/authorize?response_type=code`);
      expect(await run('authorize', 'missing')).toMatchObject({
        code: 5,
        stderr: 'There is no server missing.\n',
      });
      expect((await run('authorize', 'peer')).stderr).toContain('does not use OAuth');
      await new Api(service).call('DELETE', `/servers/${id}`);
    } finally {
      guarded.stop();
      await peer.stop();
    }
  });

  it('imports the servers of a client', async () => {
    const folder = await temporaryFolder();
    const file = join(folder.path, 'mcp.json');
    await writeFile(
      file,
      JSON.stringify({ mcpServers: { Imported: { command, args, disabled: true }, bad: {} } }),
    );
    const { code, stdout } = await run('import', file, '--json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toEqual({
      servers: [
        { name: 'bad', outcome: expect.stringMatching(/^skipped: /) },
        { name: 'imported', outcome: 'registered' },
      ],
    });
    await writeFile(file, JSON.stringify({ mcpServers: { Imported: { command, args } } }));
    expect(await run('import', file)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^imported +already registered$/m),
    });
    await folder.remove();
  });

  it.each([
    ['mcp.json', '{', 2, 'mcp.json cannot be used: it is not valid JSON: see line 1, column 2'],
    ['config.toml', '[mcp_servers.web]\n', 2, 'config.toml cannot be used: it is TOML, and only'],
    ['mcp.json', '{}', 2, 'mcp.json cannot be used: it has no "mcpServers" object'],
    ['mcp.json', '{"mcpServers":{}}', 0, 'mcp.json has no servers: its list is empty'],
  ])('says in one sentence why it imports nothing from %s: %s', async (name, text, code, said) => {
    const folder = await temporaryFolder();
    const file = join(folder.path, name);
    await writeFile(file, text);
    const outcome = await run('import', file);
    const output = outcome.stdout + outcome.stderr;
    expect(output).toContain(said);
    expect(output.trim().split('\n')).toHaveLength(1);
    expect(outcome.code).toBe(code);
    await folder.remove();
  });

  it('prints the health of the service', async () => {
    const { stdout } = await run('health');
    expect(stdout).toContain('healthy');
  });

  it.each([
    [5, ['call', 'nothing'], 'Tool not found: nothing'],
    [1, ['add', 'peer', '--', 'x'], 'Server already exists: peer'],
    [2, ['unheard-of'], 'There is no command unheard-of'],
    [2, ['--unheard-of'], 'unheard-of'],
    [2, ['call', 'peer.echo', 'text'], 'text must read NAME=value'],
    [2, ['add', 'other'], 'Give exactly one of -- <command>'],
    [3, ['servers', '--url', 'http://127.0.0.1:1'], 'There is no service at http://127.0.0.1:1'],
    [4, ['servers', '--token', 'wrong-token-wrong-token'], 'The service requires a token'],
  ])('ends with %i for %j', async (code, given, said) => {
    const outcome = await run(...given);
    expect(outcome.code).toBe(code);
    expect(outcome.stderr).toContain(said);
    expect(outcome.stdout).toBe('');
  });

  it.each([
    ['text/html', '<h1>It works!</h1>'],
    ['application/json', '<h1>It works!</h1>'],
  ])('says that another program answers at the address, with %s', async (type, page) => {
    const other = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': type }).end(page);
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}`;
    expect(await run('servers', '--url', url)).toEqual({
      code: 3,
      stdout: '',
      stderr: `The program at ${url} is not Switchboard. Set the address of the service with --url.\n`,
    });
    other.close();
  });

  describe('stdio', () => {
    const closing: (() => Promise<unknown>)[] = [];
    afterEach(() => Promise.all(closing.splice(0).map((close) => close())));

    const bridge = (endpoint = 'all') => ({
      command: process.execPath,
      args: [program, 'stdio', endpoint],
      env: env(),
    });

    async function legacyClient(endpoint?: string): Promise<LegacySdk> {
      const client = new LegacySdk(
        { name: 'old', version: '1' },
        { capabilities: { elicitation: {} } },
      );
      closing.push(() => client.close());
      await client.connect(new LegacyStdio(bridge(endpoint)));
      return client;
    }

    it('is an MCP server for a legacy client', async () => {
      const client = await legacyClient();
      client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'decline' }));
      const { tools } = await client.listTools();
      expect(tools.map((tool) => tool.name)).toContain('peer__echo');
      const heard: string[] = [];
      client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
        heard.push(params.level);
      });
      await client.callTool({ name: 'peer__log', arguments: { text: 'x' } });
      expect(heard).toEqual(['debug', 'warning']);
      const asked = await client.callTool({ name: 'peer__ask', arguments: {} });
      expect(asked.content).toEqual([{ type: 'text', text: '{"action":"decline"}' }]);
    });

    it('is an MCP server for a modern client', async () => {
      const client = new ModernSdk(
        { name: 'new', version: '1' },
        { versionNegotiation: { mode: { pin: '2026-07-28' } } },
      );
      closing.push(() => client.close());
      await client.connect(new ModernStdio(bridge()));
      const result = await client.callTool({ name: 'peer__echo', arguments: { text: 'hello' } });
      expect(result.content).toEqual([{ type: 'text', text: 'hello' }]);
    });

    it('connects to one server, or to the search endpoint', async () => {
      const one = await legacyClient('peer');
      expect(one.getServerVersion()?.name).toBe('peer-v1');
      const search = await legacyClient('search');
      expect((await search.listTools()).tools.map((tool) => tool.name)).toContain('search_tools');
    });

    it('returns an error to the client when the service is not running', async () => {
      const client = new LegacySdk({ name: 'old', version: '1' });
      closing.push(() => client.close());
      const nowhere = { ...bridge(), env: { ...env(), SWITCHBOARD_URL: 'http://127.0.0.1:1' } };
      await expect(client.connect(new LegacyStdio(nowhere))).rejects.toThrow(
        /Switchboard at http:\/\/127.0.0.1:1\/mcp does not answer/,
      );
    });
  });
});
