import {
  type ConfigRules,
  type ConnectionConfig,
  maskConfig,
  maskLeftIn,
  maskUrl,
  parseConnectionConfig,
  redact,
  resolveConfig,
  secretsOf,
  type TransportType,
  unmask,
} from './connection-config.js';

const rules: ConfigRules = {
  allowInsecureHttp: false,
  mayReference: (name) => name !== 'MCP_CREDENTIAL_KEY',
};

function parse(transport: TransportType, raw: unknown): ConnectionConfig {
  const { config, issues } = parseConnectionConfig(transport, raw, rules);
  if (!config) throw new Error(JSON.stringify(issues));
  return config;
}

function problems(transport: TransportType, raw: unknown): string[] {
  const { issues = [] } = parseConnectionConfig(transport, raw, rules);
  return issues.map((issue) => `${issue.loc.join('.')}: ${issue.msg} (${issue.type})`);
}

describe(parseConnectionConfig.name, () => {
  it.each([
    ['STDIO', 'command'],
    ['SSE', 'url'],
    ['HTTP', 'base_url'],
  ] as const)('%s requires %s', (transport, field) => {
    expect(problems(transport, {})).toEqual([
      `${field}: ${transport} transport requires '${field}' in connection_config (value_error)`,
    ]);
  });

  it('fills in what is optional', () => {
    expect(parse('STDIO', { command: 'npx' })).toEqual({
      transport: 'STDIO',
      command: 'npx',
      args: [],
      env: {},
    });
    expect(parse('HTTP', { base_url: 'https://a.example/mcp' })).toEqual({
      transport: 'HTTP',
      base_url: 'https://a.example/mcp',
      headers: {},
    });
  });

  it.each<[string, TransportType, unknown, string]>([
    [
      'fields of another transport',
      'HTTP',
      { base_url: 'https://a.example', url: 'x' },
      'url: Unknown field (extra_forbidden)',
    ],
    ['an empty command', 'STDIO', { command: '  ' }, 'command: Must not be empty (value_error)'],
    [
      'arguments that are not text',
      'STDIO',
      { command: 'x', args: [1] },
      'args.0: Input should be string (type_error)',
    ],
    [
      'NUL',
      'STDIO',
      { command: 'a\0b' },
      'command: Must not contain NUL or unpaired surrogate characters (value_error)',
    ],
    [
      'a lone surrogate',
      'STDIO',
      { command: 'x', env: { A: '\uD800' } },
      'env.A: Must not contain NUL or unpaired surrogate characters (value_error)',
    ],
    [
      'a variable name that is none',
      'STDIO',
      { command: 'x', env: { 'A B': '1' } },
      'env.A B: Is not a valid variable name (value_error)',
    ],
    [
      'a header of more than one line',
      'SSE',
      { url: 'https://a.example', headers: { x: 'a\r\nb: c' } },
      'headers.x: A header value must be one line (value_error)',
    ],
    [
      'a header name that is none',
      'SSE',
      { url: 'https://a.example', headers: { 'x y': 'a' } },
      'headers.x y: Is not a valid header name (value_error)',
    ],
    [
      'a header that the transport sets',
      'SSE',
      { url: 'https://a.example', headers: { Host: 'b' } },
      'headers.Host: Is set by the transport itself (value_error)',
    ],
    ['text that is no URL', 'SSE', { url: 'nonsense' }, 'url: Is not a valid URL (value_error)'],
    [
      'another protocol',
      'HTTP',
      { base_url: 'file:///etc/passwd' },
      'base_url: Must start with https:// or http:// (value_error)',
    ],
    [
      'http: to another machine',
      'HTTP',
      { base_url: 'http://a.example/mcp' },
      'base_url: Must use https: unless the host is this machine; MCP_AGGREGATOR_ALLOW_INSECURE_HTTP=true allows http: (value_error)',
    ],
    [
      'a placeholder for a setting of the service',
      'STDIO',
      { command: 'x', env: { K: '${MCP_CREDENTIAL_KEY}' } },
      'env.K: ${MCP_CREDENTIAL_KEY} is a setting of this service and cannot be passed on (value_error)',
    ],
    [
      'a placeholder without a name',
      'STDIO',
      { command: 'x', args: ['${a b}'] },
      'args.0: ${…} must hold the name of a variable (value_error)',
    ],
    ['what is no object', 'STDIO', ['npx'], ': Input should be a JSON object (type_error)'],
  ])('refuses %s', (_, transport, raw, problem) => {
    expect(problems(transport, raw)).toEqual([problem]);
  });

  it('names every problem at once', () => {
    expect(problems('STDIO', { command: '', args: 'x', env: { '1': 'a' }, cwd: '/' })).toHaveLength(
      4,
    );
  });

  it.each(['http://localhost:3000/mcp', 'http://127.0.0.1/mcp', 'http://[::1]:1/mcp'])(
    'allows http: to this machine: %s',
    (base_url) => {
      expect(parse('HTTP', { base_url })).toMatchObject({ base_url });
    },
  );

  it('allows http: everywhere when the setting says so', () => {
    const raw = { base_url: 'http://a.example/mcp' };
    expect(
      parseConnectionConfig('HTTP', raw, { ...rules, allowInsecureHttp: true }).config,
    ).toBeDefined();
  });

  it('leaves a URL whose host is a placeholder to be judged when it is resolved', () => {
    expect(parse('HTTP', { base_url: 'http://${HOST}/mcp' })).toMatchObject({
      base_url: 'http://${HOST}/mcp',
    });
  });
});

describe(maskConfig.name, () => {
  it('shows names and placeholders, never a literal value', () => {
    const config = parse('SSE', {
      url: 'https://user:pa55@a.example/sse?key=s3cret&flag',
      headers: { Authorization: 'Bearer ${TOKEN}', 'X-Key': 'literal', 'X-Mixed': 'abc-${B}' },
    });
    expect(maskConfig(config)).toEqual({
      url: 'https://********:********@a.example/sse?key=********&********',
      headers: { Authorization: 'Bearer ${TOKEN}', 'X-Key': '********', 'X-Mixed': '********${B}' },
    });
  });

  it('masks secrets among the arguments of a program', () => {
    const args = ['--api-key=abc', '--token', 'abc', '--verbose', 'postgres://u:p@db/x', 'plain'];
    expect(maskConfig(parse('STDIO', { command: 'x', args, env: { A: 'b' } }))).toEqual({
      command: 'x',
      args: [
        '--api-key=********',
        '--token',
        '********',
        '--verbose',
        'postgres://********:********@db/x',
        'plain',
      ],
      env: { A: '********' },
    });
  });

  it('leaves a URL without secrets as it is', () => {
    expect(maskUrl('https://github-mcp.example.com/sse')).toBe(
      'https://github-mcp.example.com/sse',
    );
  });
});

describe(unmask.name, () => {
  const stored = parse('SSE', {
    url: 'https://a.example/sse?key=s3cret',
    headers: { A: 'one', B: 'two' },
  });

  it('gives back the stored value for a mask that was read and written back', () => {
    const raw = { url: 'https://a.example/sse?key=********', headers: { A: '********', C: 'new' } };
    expect(unmask(raw, stored)).toEqual({
      url: 'https://a.example/sse?key=s3cret',
      headers: { A: 'one', C: 'new' },
    });
  });

  it('leaves a mask where nothing is stored, and it is refused there', () => {
    const raw = { url: 'https://evil.example/sse?key=********', headers: { NEW: '********' } };
    const config = parse('SSE', unmask(raw, stored));
    expect(maskLeftIn(config).map((issue) => issue.loc.join('.'))).toEqual(['url', 'headers.NEW']);
  });

  it('is not fooled by names every object has', () => {
    expect(
      unmask({ url: 'https://a.example', headers: { constructor: '********' } }, stored),
    ).toEqual({
      url: 'https://a.example',
      headers: { constructor: '********' },
    });
  });
});

describe(resolveConfig.name, () => {
  it('puts values in the place of placeholders, everywhere', () => {
    const config = parse('STDIO', {
      command: '${BIN}',
      args: ['-x', '${A}${B}'],
      env: { K: 'v${A}' },
    });
    expect(resolveConfig(config, (name) => name.toLowerCase())).toEqual({
      kind: 'STDIO',
      command: 'bin',
      args: ['-x', 'ab'],
      env: { K: 'va' },
    });
  });
});

describe(redact.name, () => {
  it('takes out every secret of a server, with and without its scheme and encoding', () => {
    const config = parse('HTTP', {
      base_url: 'https://user:p%40ssword@a.example/mcp?key=query-secret',
      headers: { Authorization: 'Bearer header-secret' },
    });
    const secrets = secretsOf(resolveConfig(config, () => ''));
    const message =
      'GET https://user:p%40ssword@a.example/mcp?key=query-secret: header-secret refused';
    expect(redact(message, secrets)).not.toMatch(/query-secret|header-secret|p%40ssword/);
  });

  it('takes out secrets that stood among the arguments', () => {
    const config = parse('STDIO', {
      command: 'x',
      args: ['--token=arg-secret', 'a'],
      env: { K: 'env-secret' },
    });
    expect(redact('env-secret arg-secret', secretsOf(resolveConfig(config, () => '')))).toBe(
      '******** ********',
    );
  });
});
