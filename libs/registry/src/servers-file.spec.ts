import { readServersFile, serverName } from './servers-file.js';

const read = (value: unknown): ReturnType<typeof readServersFile> =>
  readServersFile(typeof value === 'string' ? value : JSON.stringify(value), 'mcp.json');

describe(readServersFile.name, () => {
  it('reads what Claude Desktop and Cursor write', () => {
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

  it('reads what VS Code writes, comments and trailing commas included', () => {
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

  it('skips what it cannot use and says why, entry by entry', () => {
    const { entries, skipped } = read({
      mcpServers: {
        good: { command: 'x' },
        GOOD: { command: 'y' },
        日本: { command: 'x' },
        empty: {},
        asks: { command: 'x', env: { K: '${input:key}' } },
        cwd: { command: 'x', cwd: '/tmp' },
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
        reason: '${input:key} asks a person; use an environment variable as ${NAME} instead',
      },
      {
        key: 'cwd',
        reason: 'cwd and envFile are not supported; write the paths and variables out',
      },
      { key: 'wrong', reason: expect.stringContaining('command: ') },
    ]);
  });

  it.each([
    ['{', 'it is not valid JSON'],
    ['[]', 'it has no "mcpServers" object'],
    ['{"other": 1}', 'it has no "mcpServers" object'],
  ])('refuses a file that is none: %s', (text, problem) => {
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
  ])('makes of %s the name %s', (key, name) => {
    expect(serverName(key)).toBe(name);
  });
});
