import { startApp, type TestApp } from '../support/app.js';
import { type CommandLine, commandLine } from '../support/command-line.js';
import { eventually } from '../support/eventually.js';
import { fixture, type HttpPeer, httpPeer, stdioPeer } from '../support/peers.js';

const { command, args } = stdioPeer(fixture('peer-v1.mjs'), ['stdio']);

describe('switchboard', () => {
  let service: TestApp;
  let cli: CommandLine;
  let library: HttpPeer;

  beforeAll(async () => {
    service = await startApp({ DATABASE_URL: '' });
    library = await httpPeer('library.mjs');
    cli = commandLine(service);
    await cli.json('servers', 'add', 'peer', '--', command, ...args);
    await cli.json('servers', 'add', 'docs', '--server-url', `${new URL(library.url).origin}/docs`);
    await eventually(async () => {
      const { tools } = (await cli.json('tools')) as { tools: { name: string }[] };
      expect(tools.map((tool) => tool.name)).toEqual(
        expect.arrayContaining(['peer.echo', 'docs.search']),
      );
      expect((await cli.run('search', 'echo a text')).stdout).toContain('peer.echo');
    });
  });
  afterAll(async () => {
    await library.stop();
    await service.close();
  });

  it('lists tools up to a limit, and prints the total', async () => {
    const { stdout } = await cli.run('tools', 'list', '--server', 'peer', '--limit', '2');
    expect(stdout).toMatch(
      /^TOOL +SKILLS *\npeer\..*\npeer\..*\n2 of \d+ tools; --limit \d+ lists all\.\n$/,
    );
    const { tools, total } = (await cli.json('tools', 'list', '--server', 'peer')) as {
      tools: { name: string }[];
      total: number;
    };
    expect(tools).toHaveLength(total);
    expect(tools.every(({ name }) => name.startsWith('peer.'))).toBe(true);
  });

  it.each(['peer.echo', 'echo'])('shows the tool %s with its arguments', async (name) => {
    const { code, stdout } = await cli.run('tools', 'show', name);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^name +peer\.echo\n/);
    expect(stdout).toContain('"required": [');
  });

  it.each([
    ['as name=value', ['text=a = b ']],
    ['by option', ['--arg', 'text=a = b ']],
    ['as an object', ['{"text":"a = b "}']],
    ['as an object by option', ['--json-args', '{"text":"a = b "}']],
    ['on standard input', ['-']],
    ['on standard input by option', ['--json-args', '-']],
  ])('calls a tool with arguments given %s', async (_, given) => {
    const ran = await cli.pipe('{"text":"a = b "}\n', 'tools', 'call', 'peer.echo', ...given);
    expect(ran).toEqual({ code: 0, stdout: 'a = b \n', stderr: '' });
  });

  it.each([
    ['[1]', 'The arguments must be a JSON object'],
    ['{', 'The arguments is not valid JSON'],
  ])('refuses %s on standard input', async (input, said) => {
    const ran = await cli.pipe(input, 'tools', 'call', 'peer.echo', '-');
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(ran.stderr).toContain(said);
  });

  it('ends with 1 when the tool reports an error, and prints it', async () => {
    const ran = await cli.run('tools', 'call', 'peer.echo', 'text=5');
    expect(ran.code).toBe(1);
    expect(ran.stdout).toContain('text');
  });

  it('asks many servers one question', async () => {
    const question = ['query', 'how', 'does', 'useState', 'keep', 'a', 'value?'];
    const { stdout } = await cli.run(...question, '--server', 'docs');
    expect(stdout).toMatch(/^1\. +docs \(\d\.\d\d\)\n {4}.*useState/);
    expect(stdout).toMatch(/1 of 1 servers answered in \d+ ms\n$/);
    const { metadata } = await cli.json(...question, '--explain');
    expect(metadata).toHaveProperty('explanation.servers');
  });

  it('lists skills, and shows one with its tools', async () => {
    const { skills } = (await cli.json('skills')) as { skills: { id: string }[] };
    const id = skills[0]?.id ?? '';
    expect((await cli.run('skills')).stdout).toContain(id);
    expect((await cli.run('skills', 'show', id)).stdout).toMatch(new RegExp(`^id +${id}\n`));
    expect(await cli.json('skills', 'show', id)).toHaveProperty('tools');
  });

  it('prints a client snippet and nothing else', async () => {
    const { stdout } = await cli.run('clients', 'cursor', '--endpoint', 'search');
    expect(JSON.parse(stdout)).toMatchObject({
      mcpServers: { switchboard: { url: `${service.url}/mcp/search` } },
    });
    expect((await cli.run('clients')).stdout).toContain('# Claude Desktop (claude-desktop): ');
    expect(await cli.run('clients', 'emacs')).toMatchObject({ code: 5, stdout: '' });
  });

  it('prints the numbers and the health of the service and of a server', async () => {
    expect((await cli.run('status')).stdout).toMatch(/^servers +2\nconnected +2\n/);
    expect(await cli.run('health')).toMatchObject({ code: 0, stdout: 'healthy\n' });
    expect((await cli.run('health', 'peer')).stdout).toMatch(/^name +peer\nstatus +CONNECTED\n/);
  });

  it('lists the newest events of all servers', async () => {
    const { stdout } = await cli.run('events', '--limit', '3');
    expect(stdout.split('\n')).toHaveLength(5);
    const { events } = (await cli.json('events')) as {
      events: { timestamp: string; server: string; event_type: string }[];
    };
    const times = events.map((event) => event.timestamp);
    expect(times).toEqual(times.toSorted().reverse());
    expect(events).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ server: 'peer', event_type: 'CONNECTED' }),
        expect.objectContaining({ server: 'docs', event_type: 'REGISTERED' }),
      ]),
    );
  });

  it('lists the audit log by event and server', async () => {
    const about = ['audit', '--event', 'server.registered', '--server', 'docs'];
    const { stdout } = await cli.run(...about);
    expect(stdout).toMatch(/^TIME.*\n\S+ +server\.registered +success +docs +admin .*\n$/);
    const { entries } = (await cli.json(...about)) as { entries: object[] };
    expect(entries).toHaveLength(1);
  });

  it('is refused actions beyond the scope of the token', async () => {
    const reader = commandLine({ url: service.url, token: service.tokens.read });
    expect(await reader.run('servers')).toMatchObject({ code: 0 });
    const refused = await reader.run('servers', 'remove', 'peer');
    expect(refused).toMatchObject({ code: 4, stdout: '' });
    expect(refused.stderr).toContain('admin');
  });

  it('prints one sentence for each refused field', async () => {
    const bad = ['servers', 'add', 'Bad Name', '--server-url', 'ftp://x'];
    expect(await cli.run(...bad)).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^name: .*\.\nconnection_config\.base_url: .*\.\n$/),
    });
    const { stderr } = await cli.run(...bad, '--json');
    expect(JSON.parse(stderr)).toMatchObject({ code: 'VALIDATION_ERROR' });
  });

  it.each([
    [['servers', 'show', 'p'], ['peer']],
    [['tools', 'list', '--server', 'd'], ['docs']],
    [['tools', 'list', '--server=d'], ['--server=docs']],
    [['tools', 'list', '--server', '=', 'd'], ['docs']],
    [['tools', 'call', 'peer.ec'], ['peer.echo']],
    [['stdio', 'do'], ['docs']],
    [['clients', 'cu'], ['cursor']],
  ])('completes %j with names at the service', async (words, expected) => {
    // Repeated: a service that does not answer in time leaves a shell without names.
    await eventually(async () => {
      const { stdout } = await cli.run('complete', '--', ...words);
      const found = stdout.split('\n').filter(Boolean);
      expect(found.map((line) => line.split('\t')[0])).toEqual(expected);
    });
  });
});
