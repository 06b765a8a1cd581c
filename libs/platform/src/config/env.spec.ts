import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { envSchema, InvalidEnv, oauthIssuer, parseEnv } from './env.js';
import { roles } from './token-scopes.js';

const SECRET = 'a-secret-that-no-message-may-hold';
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

function problemsOf(source: Record<string, string>): readonly string[] {
  try {
    parseEnv(source);
  } catch (error) {
    if (error instanceof InvalidEnv) return error.problems;
    throw error;
  }
  return [];
}

describe('.env.example', () => {
  const lines = readFileSync('.env.example', 'utf8').split('\n');
  const settings = lines.flatMap((line) => {
    const [, key, value] = /^#([A-Z_]+)=(.*)$/.exec(line) ?? [];
    return key === undefined || value === undefined ? [] : [[key, value] as const];
  });

  it('lists every setting exactly once', () => {
    expect(settings.map(([key]) => key).toSorted()).toEqual(
      Object.keys(envSchema.shape).toSorted(),
    );
    expect(lines.filter((line) => line !== '' && !line.startsWith('#'))).toEqual([]);
  });

  it('shows the defaults', () => {
    expect(parseEnv(Object.fromEntries(settings))).toEqual(parseEnv({}));
  });

  it('explains each setting on the line above', () => {
    for (const [key] of settings) {
      const above = lines[lines.findIndex((line) => line.startsWith(`#${key}=`)) - 1];
      expect([key, above]).toEqual([key, expect.stringMatching(/^# \S/)]);
    }
  });
});

describe(parseEnv.name, () => {
  it('has defaults for all settings, and treats an empty value as unset', () => {
    expect(parseEnv({ MCP_AGGREGATOR_PORT: '', DATABASE_URL: '' })).toEqual(parseEnv({}));
    expect(parseEnv({}).MCP_AGGREGATOR_PORT).toBe(8081);
  });

  it('names every problem at once', () => {
    expect(
      problemsOf({
        MCP_AGGREGATOR_PORT: '99999',
        MCP_AGGREGATOR_ENABLED: 'perhaps',
        MCP_AGGREGATOR_HEALTH_INTERVAL: '-1',
        DATABASE_URL: 'mysql://somewhere',
        MCP_AGGREGATOR_JWKS_URL: 'https://id.example.com/keys',
        MCP_AGGREGATOR_JWT_ISSUER: 'https://id.example.com',
      }),
    ).toEqual([
      'MCP_AGGREGATOR_ENABLED must be true or false',
      'MCP_AGGREGATOR_PORT must be at most 65535',
      'MCP_AGGREGATOR_HEALTH_INTERVAL must be a number of seconds',
      'DATABASE_URL must be a URL that starts with postgres:// or postgresql://',
      'MCP_AGGREGATOR_JWT_AUDIENCE is required with MCP_AGGREGATOR_JWKS_URL',
    ]);
  });

  it('reads keys of hosted services without the line feed that files end with', () => {
    expect(parseEnv({ LLM_API_KEY: 'sk-1\n' }).LLM_API_KEY).toBe('sk-1');
    expect(problemsOf({ QDRANT_API_KEY: 'one\ntwo' })).toEqual([
      'QDRANT_API_KEY must be one line of ASCII characters without spaces',
    ]);
  });

  it('refuses an endpoint together with a local model', () => {
    expect(() =>
      parseEnv({ EMBEDDINGS_URL: 'http://127.0.0.1:1/v1', EMBEDDINGS_LOCAL_MODEL: 'minilm' }),
    ).toThrow(/EMBEDDINGS_LOCAL_MODEL must be static/);
  });

  it('does not report an invalid setting as missing', () => {
    const source = { MCP_AGGREGATOR_HOST: '0.0.0.0', MCP_AGGREGATOR_TOKENS: 'ci:read:short' };
    expect(problemsOf(source)).toEqual([expect.stringMatching(/^MCP_AGGREGATOR_TOKENS entry 1 /)]);
  });

  it('never repeats a value, which could be a secret', () => {
    const everything = Object.fromEntries(
      Object.keys(envSchema.shape).map((key) => [key, `${SECRET} \u0000`]),
    );
    const tokens = [`a:admin:${SECRET},a:admin:${SECRET}`, `b:${SECRET}`, `c:sudo:${SECRET}`];
    const messages = [
      ...problemsOf(everything),
      ...tokens.flatMap((MCP_AGGREGATOR_TOKENS) => problemsOf({ MCP_AGGREGATOR_TOKENS })),
    ];
    expect(messages.length).toBeGreaterThan(20);
    expect(messages.join('\n')).not.toContain(SECRET);
  });

  it.each([
    [{ DATABASE_URL: 'postgres://db/x' }, 'MCP_CREDENTIAL_KEY'],
    [{ MCP_AGGREGATOR_HOST: '0.0.0.0' }, 'MCP_AGGREGATOR_HOST'],
    [{ MCP_AGGREGATOR_HOST: 'mcp.example.com' }, 'MCP_AGGREGATOR_HOST'],
    [
      { MCP_AGGREGATOR_JWKS_URL: 'http://id.example.com/keys', MCP_AGGREGATOR_JWT_ISSUER: 'i' },
      'MCP_AGGREGATOR_JWT_AUDIENCE,MCP_AGGREGATOR_JWKS_URL',
    ],
    [
      { MCP_AGGREGATOR_JWKS_URL: 'https://id.example.com/keys', MCP_AGGREGATOR_JWT_AUDIENCE: 'a' },
      'MCP_AGGREGATOR_JWT_ISSUER',
    ],
  ])('refuses %j: %s', (source, settings) => {
    expect(
      problemsOf(source)
        .map((problem) => problem.split(' ')[0])
        .join(),
    ).toBe(settings);
  });

  it('may listen beyond loopback only with tokens or a JWKS', () => {
    const tokens = { MCP_AGGREGATOR_TOKENS: `ci:read:${SECRET}` };
    const jwks = {
      MCP_AGGREGATOR_JWKS_URL: 'https://id.example.com/keys',
      MCP_AGGREGATOR_JWT_ISSUER: 'https://id.example.com',
      MCP_AGGREGATOR_JWT_AUDIENCE: 'switchboard',
    };
    for (const MCP_AGGREGATOR_HOST of ['localhost', '127.0.0.1', '127.8.8.8', '::1']) {
      expect(problemsOf({ MCP_AGGREGATOR_HOST })).toEqual([]);
    }
    for (const access of [tokens, jwks]) {
      expect(problemsOf({ MCP_AGGREGATOR_HOST: '0.0.0.0', ...access })).toEqual([]);
    }
  });
});

describe('MCP_AGGREGATOR_PUBLIC_URL', () => {
  it('has no trailing slash, so that paths can be appended', () => {
    const given = 'https://mcp.example.com/switchboard/';
    expect(parseEnv({ MCP_AGGREGATOR_PUBLIC_URL: given })).toMatchObject({
      MCP_AGGREGATOR_PUBLIC_URL: 'https://mcp.example.com/switchboard',
    });
  });

  it.each(['mcp.example.com', 'ftp://mcp.example.com', 'https://mcp.example.com/?a=b'])(
    'is not %s',
    (MCP_AGGREGATOR_PUBLIC_URL) => {
      expect(problemsOf({ MCP_AGGREGATOR_PUBLIC_URL })).toHaveLength(1);
    },
  );
});

describe(oauthIssuer, () => {
  const issuerOf = (settings: Record<string, string>): string | undefined =>
    oauthIssuer(parseEnv(settings));
  const address = 'https://mcp.example.com';

  it('is an https address of a whole host, where nothing else decides', () => {
    expect(issuerOf({})).toBeUndefined();
    expect(issuerOf({ MCP_AGGREGATOR_PUBLIC_URL: `${address}/` })).toBe(address);
    for (const other of [`${address}/tools`, 'http://127.0.0.1:8081', 'http://mcp.example.com']) {
      expect(issuerOf({ MCP_AGGREGATOR_PUBLIC_URL: other })).toBeUndefined();
    }
    const settings = { MCP_AGGREGATOR_PUBLIC_URL: address };
    expect(issuerOf({ ...settings, MCP_AGGREGATOR_OAUTH: 'off' })).toBeUndefined();
    expect(issuerOf({ ...settings, MCP_AGGREGATOR_CONSOLE: 'false' })).toBeUndefined();
    expect(
      issuerOf({
        ...settings,
        MCP_AGGREGATOR_JWKS_URL: 'https://id.example.com/keys',
        MCP_AGGREGATOR_JWT_ISSUER: 'https://id.example.com',
        MCP_AGGREGATOR_JWT_AUDIENCE: 'switchboard',
      }),
    ).toBeUndefined();
  });

  it('is an http address only on request, and only of this machine', () => {
    const on = { MCP_AGGREGATOR_OAUTH: 'on' };
    const local = 'http://127.0.0.1:8081';
    expect(issuerOf({ ...on, MCP_AGGREGATOR_PUBLIC_URL: local })).toBe(local);
    const remote = { ...on, MCP_AGGREGATOR_PUBLIC_URL: 'http://mcp.example.com' };
    expect(() => issuerOf(remote)).toThrow(/starts with https/);
    expect(issuerOf({ ...remote, MCP_AGGREGATOR_ALLOW_INSECURE_HTTP: 'true' })).toBeDefined();
  });

  it.each([
    [{}, /needs MCP_AGGREGATOR_PUBLIC_URL/],
    [{ MCP_AGGREGATOR_PUBLIC_URL: `${address}/tools` }, /without a path/],
    [{ MCP_AGGREGATOR_PUBLIC_URL: address, MCP_AGGREGATOR_CONSOLE: 'false' }, /console/],
    [
      {
        MCP_AGGREGATOR_PUBLIC_URL: address,
        MCP_AGGREGATOR_JWKS_URL: 'https://id.example.com/keys',
        MCP_AGGREGATOR_JWT_ISSUER: 'https://id.example.com',
        MCP_AGGREGATOR_JWT_AUDIENCE: 'switchboard',
      },
      /identity provider/,
    ],
  ])('refuses to be on with %j', (settings, problem) => {
    expect(() => parseEnv({ ...settings, MCP_AGGREGATOR_OAUTH: 'on' })).toThrow(problem);
  });
});

describe('MCP_AGGREGATOR_TRUST_PROXY', () => {
  it.each([
    ['false', 0],
    ['true', 1],
    ['1', 1],
    ['3', 3],
  ])('%s means %i', (MCP_AGGREGATOR_TRUST_PROXY, proxies) => {
    expect(parseEnv({ MCP_AGGREGATOR_TRUST_PROXY })).toMatchObject({
      MCP_AGGREGATOR_TRUST_PROXY: proxies,
    });
  });
});

describe('MCP_AGGREGATOR_TOKENS', () => {
  const parsed = (MCP_AGGREGATOR_TOKENS: string): unknown =>
    parseEnv({ MCP_AGGREGATOR_TOKENS }).MCP_AGGREGATOR_TOKENS;

  it('takes a login at an identity provider only where the public address is reached by https', () => {
    const logins = {
      MCP_AGGREGATOR_LOGIN_ISSUER: 'https://id.example.com',
      MCP_AGGREGATOR_LOGIN_CLIENT_ID: 'switchboard',
    };
    const at = (address: string, more: Record<string, string> = {}) =>
      parseEnv({ ...logins, MCP_AGGREGATOR_PUBLIC_URL: address, ...more });
    expect(() => at('http://mcp.example.com')).toThrow(/MCP_AGGREGATOR_LOGIN_ISSUER.*https/);
    for (const address of ['https://mcp.example.com', 'http://localhost:8081']) at(address);
    at('http://mcp.example.com', { MCP_AGGREGATOR_ALLOW_INSECURE_HTTP: 'true' });
  });

  it('keeps the hash of a token, given as the token or as its hash, and never the token', () => {
    const tokens = parsed(
      `ci:read+call:${SECRET}, ops@x:admin:sha256:${sha256('other').toUpperCase()}`,
    );
    expect(tokens).toEqual([
      { name: 'ci', scopes: ['read', 'call'], hash: sha256(SECRET) },
      { name: 'ops@x', scopes: ['admin'], hash: sha256('other') },
    ]);
  });

  it('takes a role for its scopes', () => {
    expect(roles.map((role) => parsed(`x:${role}:${SECRET}`))).toEqual(
      [['read'], ['call'], ['operate'], ['admin']].map((scopes) => [
        { name: 'x', scopes, hash: sha256(SECRET) },
      ]),
    );
  });

  it.each([
    ['two roles', `ci:viewer+caller:${SECRET}`],
    ['no scope', `ci::${SECRET}`],
    ['an unknown scope', `ci:read+sudo:${SECRET}`],
    ['a short token', 'ci:read:short'],
    ['a token that no header can carry', 'ci:read:sixteen characters'],
    ['half a hash', 'ci:read:sha256:abcdef'],
    ['a name of the audit log', `system:read:${SECRET}`],
    ['one that reads like it', `System:read:${SECRET}`],
    ['one name twice', `ci:read:${SECRET},ci:read:${SECRET}2`],
    ['one token twice', `ci:read:${SECRET},ops:admin:sha256:${sha256(SECRET)}`],
  ])('refuses %s', (_, MCP_AGGREGATOR_TOKENS) => {
    expect(problemsOf({ MCP_AGGREGATOR_TOKENS })).toHaveLength(1);
  });
});

describe('where the service may connect to', () => {
  it('is read from addresses, ranges and names', () => {
    const allow = '10.0.0.0/8, [fd00:ec2::254],Metadata.Google.Internal., 64:ff9b::/96';
    expect(parseEnv({ MCP_AGGREGATOR_EGRESS_ALLOW: allow }).MCP_AGGREGATOR_EGRESS_ALLOW).toEqual({
      ranges: [
        expect.objectContaining({ prefix: 8 }),
        expect.objectContaining({ prefix: 128 }),
        expect.objectContaining({ prefix: 96 }),
      ],
      hosts: ['metadata.google.internal'],
    });
    expect(problemsOf({ MCP_AGGREGATOR_EGRESS_ALLOW: '10.0.0.0/64' })).toEqual([
      expect.stringContaining('MCP_AGGREGATOR_EGRESS_ALLOW must be'),
    ]);
    expect(problemsOf({ MCP_AGGREGATOR_EGRESS: 'closed' })).toHaveLength(1);
  });

  it('holds for the JWKS', () => {
    const jwt = { MCP_AGGREGATOR_JWT_ISSUER: 'a', MCP_AGGREGATOR_JWT_AUDIENCE: 'b' };
    const at = (url: string, more = {}): readonly string[] =>
      problemsOf({ ...jwt, MCP_AGGREGATOR_JWKS_URL: url, ...more });
    expect(at('https://169.254.169.254/keys')).toEqual([
      expect.stringContaining('MCP_AGGREGATOR_EGRESS_ALLOW'),
    ]);
    expect(at('http://127.0.0.1/keys')).toEqual([]);
    expect(at('http://127.0.0.1/keys', { MCP_AGGREGATOR_EGRESS: 'public' })).toHaveLength(1);
    expect(
      at('http://127.0.0.1/keys', {
        MCP_AGGREGATOR_EGRESS: 'public',
        MCP_AGGREGATOR_EGRESS_ALLOW: '127.0.0.1',
      }),
    ).toEqual([]);
  });
});
