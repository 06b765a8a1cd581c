import { readPaste } from './pasted-servers.js';

const read = (text: string, values: Record<string, string> = {}) => {
  const { entries, skipped } = readPaste(text, values);
  return {
    servers: entries.map(({ registration: { name, transportType, connectionConfig } }) => ({
      name,
      transportType,
      ...connectionConfig,
    })),
    skipped,
  };
};

describe(readPaste.name, () => {
  const entry = '{"url":"https://mcp.sentry.dev/mcp"}';
  const sentry = {
    name: 'sentry',
    transportType: 'HTTP',
    base_url: 'https://mcp.sentry.dev/mcp',
    headers: {},
  };

  it.each([
    `{"mcpServers":{"sentry":${entry}}}`,
    `{"servers":{"sentry":${entry},},} // as VS Code writes it`,
    `{"mcp":{"servers":{"sentry":${entry}}}}`,
    `{"sentry":${entry}}`,
    `"sentry":${entry},`,
    '  https://mcp.sentry.dev/mcp \n',
  ])('reads %s', (text) => {
    expect(read(text)).toEqual({ servers: [sentry], skipped: [] });
  });

  it('gives one entry without a key a name', () => {
    expect(read(entry).servers).toEqual([{ ...sentry, name: 'server' }]);
  });

  it.each([
    ['npx -y @modelcontextprotocol/server-memory', 'memory', 'npx'],
    ['uvx mcp-server-fetch', 'fetch', 'uvx'],
    ['/opt/tools/notes-mcp --verbose', 'notes', '/opt/tools/notes-mcp'],
    ['node /srv/files.mjs', 'files', 'node'],
    ['npx some-pkg@1.2.3', 'some-pkg', 'npx'],
  ])('reads the command line %s', (line, name, command) => {
    expect(read(line).servers).toMatchObject([{ name, transportType: 'STDIO', command }]);
  });

  it('splits a command line as a shell does, and expands nothing', () => {
    const line = `TOKEN='a b' LEVEL=3 npx -y pkg "x \\"y\\" $HOME" 'it is' a\\ b --n=\${VAR}`;
    expect(read(line).servers).toEqual([
      {
        name: 'pkg',
        transportType: 'STDIO',
        command: 'npx',
        args: ['-y', 'pkg', 'x "y" $HOME', 'it is', 'a b', '--n=${VAR}'],
        env: { TOKEN: 'a b', LEVEL: '3' },
      },
    ]);
  });

  it.each([
    ['https://mcp.linear.app/sse', 'linear', 'SSE'],
    ['https://api.githubcopilot.com/mcp/', 'githubcopilot', 'HTTP'],
    ['http://localhost:3000/mcp', 'localhost', 'HTTP'],
    ['http://127.0.0.1:3000/mcp', 'server', 'HTTP'],
  ])('names the server at %s', (url, name, transportType) => {
    expect(read(url).servers).toMatchObject([{ name, transportType }]);
  });

  it('puts values in the place of variables, and leaves the others', () => {
    const text = '{"a":{"url":"https://a.example","headers":{"K":"Bearer ${env:KEY}","L":"${L}"}}}';
    expect(read(text, { KEY: 'x$&y' }).servers).toMatchObject([
      { headers: { K: 'Bearer x$&y', L: '${L}' } },
    ]);
  });

  it('names what cannot be used, and reads the rest', () => {
    const { servers, skipped } = read(
      '{"a":{"command":"x"},"b":{},"c":{"command":"x","args":["${workspaceFolder}/s"]}}',
    );
    expect(servers.map(({ name }) => name)).toEqual(['a']);
    expect(skipped).toEqual([
      { key: 'b', reason: 'it has neither a "command" nor a "url"' },
      { key: 'c', reason: expect.stringContaining('switchboard import') as string },
    ]);
  });

  it.each([
    ['{', 'not valid JSON'],
    ['{"mcpServers":{}}', 'it has no server'],
    ['npx "a', 'quotation mark'],
    ['one\ntwo', 'neither JSON'],
    ['A=1', 'it has no command'],
    [
      JSON.stringify(
        Object.fromEntries(Array.from({ length: 201 }, (_, i) => [`s${i}`, { command: 'x' }])),
      ),
      'at most 200',
    ],
  ])('refuses %.20s', (text, problem) => {
    expect(() => read(text)).toThrow(problem);
  });

  it('never repeats what was pasted in a problem', () => {
    expect(() => read('{"a":{"env":{"KEY":"s3cret"}')).toThrow(/^(?!.*s3cret)/);
  });
});
