import { readServersFile, serverName } from './servers-file.js';

const read = (value: unknown): ReturnType<typeof readServersFile> =>
  readServersFile(typeof value === 'string' ? value : JSON.stringify(value), 'mcp.json');

describe(readServersFile.name, () => {
  it('reads files of Claude Desktop and Cursor', () => {
    const { entries, skipped } = read({
      mcpServers: {
        Memory: { command: 'npx', args: ['-y', 'server-memory'], env: { LEVEL: 3 } },
        docs: { url: 'https://a.example/mcp', headers: { Authorization: 'Bearer ${env:TOKEN}' } },
        old: { url: 'https://a.example/sse', disabled: true },
      },
    });
    expect(skipped).toEqual([]);
    expect(entries.map((entry) => entry.registration)).toEqual([
      {
        name: 'memory',
        description: undefined,
        transportType: 'STDIO',
        connectionConfig: { command: 'npx', args: ['-y', 'server-memory'], env: { LEVEL: '3' } },
        autoConnect: true,
      },
      {
        name: 'docs',
        description: undefined,
        transportType: 'HTTP',
        connectionConfig: {
          base_url: 'https://a.example/mcp',
          headers: { Authorization: 'Bearer ${TOKEN}' },
        },
        autoConnect: true,
      },
      {
        name: 'old',
        description: undefined,
        transportType: 'SSE',
        connectionConfig: { url: 'https://a.example/sse', headers: {} },
        autoConnect: false,
      },
    ]);
  });

  it('reads files of VS Code, comments and trailing commas included', () => {
    const text = `{
      // team servers
      "servers": { "web": { "type": "http", "url": "https://a.example/sse", }, },
    }`;
    expect(read(text).entries[0]?.registration).toMatchObject({
      name: 'web',
      transportType: 'HTTP',
    });
    expect(read({ mcp: { servers: { web: { command: 'x' } } } }).entries).toHaveLength(1);
  });

  it('skips invalid entries and gives a reason for each', () => {
    const { entries, skipped } = read({
      mcpServers: {
        good: { command: 'x' },
        GOOD: { command: 'y' },
        日本: { command: 'x' },
        empty: {},
        asks: { command: 'x', env: { K: '${input:key}' } },
        file: { command: 'x', envFile: '.env' },
        wrong: { command: 5 },
      },
    });
    expect(entries.map((entry) => entry.key)).toEqual(['good']);
    expect(skipped).toEqual([
      { key: 'GOOD', reason: 'its name becomes the same as that of "good"' },
      { key: '日本', reason: 'no server name can be made of it: it has no Latin letter' },
      { key: 'empty', reason: 'it has neither a "command" nor a "url"' },
      {
        key: 'asks',
        reason:
          '${input:key} is a value that VS Code asks its user for; use an environment variable, ${NAME}, instead',
      },
      { key: 'file', reason: 'envFile is not supported; write its variables into env' },
      { key: 'wrong', reason: expect.stringContaining('command: ') },
    ]);
  });

  it('reads the URL members of Windsurf and Gemini CLI', () => {
    const { entries } = read({
      mcpServers: {
        windsurf: { serverUrl: 'https://a.example/mcp' },
        old: { serverUrl: 'https://a.example/sse' },
        gemini: { httpUrl: 'https://a.example/sse', url: 'https://b.example/sse' },
      },
    });
    expect(entries.map(({ registration }) => registration)).toMatchObject([
      { transportType: 'HTTP', connectionConfig: { base_url: 'https://a.example/mcp' } },
      { transportType: 'SSE', connectionConfig: { url: 'https://a.example/sse' } },
      { transportType: 'HTTP', connectionConfig: { base_url: 'https://a.example/sse' } },
    ]);
  });

  it('keeps the working directory of a program', () => {
    const text = JSON.stringify({
      servers: { web: { command: 'x', cwd: '${workspaceFolder}/a' } },
    });
    const { entries } = readServersFile(text, '/work/shop/.vscode/mcp.json');
    expect(entries[0]?.registration.connectionConfig).toMatchObject({ cwd: '/work/shop/a' });
  });

  it('leaves defaults of variables to be resolved at connect', () => {
    const { entries } = read({
      mcpServers: { web: { url: 'https://${env:HOST:-a.example}/mcp', headers: { A: '${B:-c}' } } },
    });
    expect(entries[0]?.registration.connectionConfig).toEqual({
      base_url: 'https://${HOST:-a.example}/mcp',
      headers: { A: '${B:-c}' },
    });
  });

  it('ignores settings that other programs keep under the same names', () => {
    const { entries } = read({
      servers: ['a.example'],
      mcp: { servers: { web: { command: 'x' } } },
    });
    expect(entries.map(({ key }) => key)).toEqual(['web']);
  });

  it.each(['{"views":{}}', '{"overrides":{}}', '{"views":[]}'])(
    'takes a file that is for the policy alone: %s',
    (text) => {
      expect(read(text)).toEqual({ entries: [], skipped: [] });
    },
  );

  it('reads a file that begins with a byte order mark', () => {
    expect(read('\uFEFF{"mcpServers":{"web":{"command":"x"}}}').entries).toHaveLength(1);
  });

  it('reports the position of a syntax error, never the text there', () => {
    const text = '{\n  "mcpServers": { "a": { "env": { "KEY": "s3cret-value" } }\n';
    expect(() => read(text)).toThrow('it is not valid JSON: see line 3, column 1');
    expect(() => read('{"KEY": s3cret-value}')).toThrow(/^(?!.*s3cret)/);
  });

  it.each([
    [
      'config.toml',
      '[mcp_servers.web]\ncommand = "x"\n',
      'it is TOML, and only JSON and YAML are read',
    ],
    [
      'config',
      '# mine\n[mcp_servers."a b"] # web\n',
      'it is TOML, and only JSON and YAML are read',
    ],
  ])('reports the format of %s', (file, text, problem) => {
    expect(() => readServersFile(text, file)).toThrow(problem);
  });

  it.each([
    ['{', 'it is not valid JSON'],
    ['[]', 'it has no "mcpServers" object'],
    ['{"other": 1}', 'it has no "mcpServers" object'],
  ])('refuses a file without servers: %s', (text, problem) => {
    expect(() => read(text)).toThrow(problem);
  });

  it.each([
    ['characters', ' '.repeat(5_000_000), 'more than 4194304 characters'],
    ['keys', `{${Array.from({ length: 30_000 }, (_, i) => `"k${i}":1`).join()}}`, '20000 keys'],
    ['values', `[${'1,'.repeat(200_000)}1]`, '100000 values'],
    ['levels', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, 'deeper than 64 levels'],
  ])('refuses a file with too many %s before it is parsed', (_, text, problem) => {
    expect(() => read(text)).toThrow(problem);
  });
});

describe(serverName.name, () => {
  it.each([
    ['GitHub (work)', 'github-work'],
    ['@scope/server', 'scope-server'],
    ['1password', 'password'],
    ['a_b-c', 'a_b-c'],
    ['123', undefined],
  ])('turns %s into the name %s', (key, name) => {
    expect(serverName(key)).toBe(name);
  });
});
