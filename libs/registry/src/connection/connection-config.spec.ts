import { LOCAL_EGRESS } from '@app/platform';
import {
  type ConfigRules,
  type ConnectionConfig,
  type TransportType,
} from './connection-config.js';
import { maskConfig, maskUrl } from './mask-config.js';
import { parseConnectionConfig } from './parse-config.js';
import { redact, secretsOf } from './redact.js';
import { resolveConfig } from './resolve-config.js';
import { healthUrlIssues } from '../register/new-server.js';
import { valueOrDefault } from './placeholders.js';

const rules: ConfigRules = {
  allowInsecureHttp: false,
  egress: LOCAL_EGRESS,
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

  it('fills in defaults', () => {
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
    expect(problems('STDIO', { command: '', args: 'x', env: { '1': 'a' }, x: 1 })).toHaveLength(4);
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

  it('checks a URL with a placeholder as host only once it is resolved', () => {
    expect(parse('HTTP', { base_url: 'http://${HOST}/mcp' })).toMatchObject({
      base_url: 'http://${HOST}/mcp',
    });
  });
});

describe('egress rules for the address of a server', () => {
  it.each<[TransportType, string]>([
    ['HTTP', 'base_url'],
    ['SSE', 'url'],
  ])('%s: refuse a forbidden address and name the setting that allows it', (transport, field) => {
    for (const host of ['169.254.169.254', '2852039166', '[fe80::1]', 'metadata.google.internal']) {
      expect(problems(transport, { [field]: `https://${host}/mcp` })).toEqual([
        expect.stringContaining('refused unless MCP_AGGREGATOR_EGRESS_ALLOW names it'),
      ]);
    }
    expect(
      problems(transport, { [field]: 'https://example.com@169.254.169.254/mcp' }),
    ).toHaveLength(1);
  });

  it.each([
    'https://169.254.169.254?${X}',
    'https://169.254.169.254\\${X}',
    'https://169.254.169.254#${X}',
  ])('are not bypassed by a placeholder after the host: %s', (base_url) => {
    expect(problems('HTTP', { base_url })).toHaveLength(1);
  });

  it('apply to the authorization server of the configuration', () => {
    const oauth = { issuer: 'https://169.254.169.254/' };
    expect(problems('HTTP', { base_url: 'https://a.example', oauth })).toEqual([
      expect.stringMatching(/^oauth\.issuer: .*MCP_AGGREGATOR_EGRESS_ALLOW/),
    ]);
  });

  it('allow only the internet in public mode', () => {
    const shut = { ...rules, egress: { ...LOCAL_EGRESS, mode: 'public' as const } };
    const issuesOf = (base_url: string): number =>
      parseConnectionConfig('HTTP', { base_url }, shut).issues?.length ?? 0;
    expect(issuesOf('http://127.0.0.1/mcp')).toBe(1);
    expect(issuesOf('http://localhost:3000/mcp')).toBe(1);
    expect(issuesOf('https://192.168.0.1/mcp')).toBe(1);
    expect(issuesOf('https://mcp.example.com/mcp')).toBe(0);
    expect(healthUrlIssues('https://10.0.0.1/health', shut)).toEqual([
      expect.objectContaining({
        loc: ['body', 'health_check_url'],
        msg: expect.stringContaining('MCP_AGGREGATOR_EGRESS=public'),
      }),
    ]);
    expect(healthUrlIssues('https://10.0.0.1/health', rules)).toEqual([]);
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

  it('masks secrets in program arguments', () => {
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

  it('leaves a URL without secrets unchanged', () => {
    expect(maskUrl('https://github-mcp.example.com/sse')).toBe(
      'https://github-mcp.example.com/sse',
    );
  });
});

describe(resolveConfig.name, () => {
  it('replaces placeholders in every field', () => {
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

describe('the working directory of a program', () => {
  it('is absolute, or begins with a variable', () => {
    expect(parse('STDIO', { command: 'x', cwd: '/srv' })).toMatchObject({ cwd: '/srv' });
    expect(parse('STDIO', { command: 'x', cwd: '${HOME}/srv' })).toMatchObject({
      cwd: '${HOME}/srv',
    });
    expect(problems('STDIO', { command: 'x', cwd: './srv' })).toEqual([
      'cwd: Must be an absolute path; leave it out for a folder of its own (value_error)',
    ]);
  });

  it('is shown unmasked, and resolved', () => {
    const config = parse('STDIO', { command: 'x', cwd: '${HOME}/srv' });
    expect(maskConfig(config)).toMatchObject({ cwd: '${HOME}/srv' });
    expect(resolveConfig(config, () => '/home/me')).toMatchObject({ cwd: '/home/me/srv' });
  });
});

describe('the default of a placeholder', () => {
  const config = parse('STDIO', {
    command: 'x',
    args: ['--level=${LEVEL:-info}'],
    env: { A: '${A:-secret-default}', B: '${B:-}' },
  });
  const resolved = (variables: Record<string, string>) =>
    resolveConfig(config, (name, fallback) => valueOrDefault(variables[name], fallback) ?? 'none');

  it('replaces a variable that is unset or empty, as in a shell', () => {
    expect(resolved({ A: '' })).toMatchObject({
      args: ['--level=info'],
      env: { A: 'secret-default', B: '' },
    });
    expect(resolved({ A: 'set', LEVEL: 'debug' })).toMatchObject({
      args: ['--level=debug'],
      env: { A: 'set' },
    });
  });

  it('is masked where a literal value would be', () => {
    expect(maskConfig(config)['env']).toEqual({ A: '${A:-********}', B: '${B:-}' });
    expect(secretsOf(resolved({}))).toContain('secret-default');
  });

  it.each(['${A:-${B}}', 'x${A:-${B:-c}}', '${:-c}', '${A:c}'])('is refused in %s', (value) => {
    const { issues } = parseConnectionConfig('STDIO', { command: 'x', env: { K: value } }, rules);
    expect(issues?.map(({ loc }) => loc)).toContainEqual(['env', 'K']);
  });
});

describe(redact.name, () => {
  it('removes every secret of a server, with and without its scheme and encoding', () => {
    const config = parse('HTTP', {
      base_url: 'https://user:p%40ssword@a.example/mcp?key=query-secret',
      headers: { Authorization: 'Bearer header-secret' },
    });
    const secrets = secretsOf(resolveConfig(config, () => ''));
    const message =
      'GET https://user:p%40ssword@a.example/mcp?key=query-secret: header-secret refused';
    expect(redact(message, secrets)).not.toMatch(/query-secret|header-secret|p%40ssword/);
  });

  it('truncates a long message after the secrets are removed', () => {
    const secrets = secretsOf(
      resolveConfig(parse('STDIO', { command: 'x', env: { K: 'a-long-secret-value' } }), () => ''),
    );
    const told = redact(`${'x'.repeat(1_990)}a-long-secret-value${'y'.repeat(1_000_000)}`, secrets);
    expect(told).toBe(`${'x'.repeat(1_990)}******** …`);
  });

  it('removes secrets that were passed as arguments', () => {
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
