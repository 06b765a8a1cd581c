import { LOCAL_EGRESS } from '@app/platform';
import { type ConnectionConfig } from './connection-config.js';
import { maskConfig } from './mask-config.js';
import { parseConnectionConfig } from './parse-config.js';
import { resolveConfig } from './resolve-config.js';
import { secretsOf } from './redact.js';
import { unmask } from './unmask.js';

const rules = {
  allowInsecureHttp: false,
  egress: LOCAL_EGRESS,
  mayReference: (name: string) => name !== 'DATABASE_URL',
};
const url = 'https://mcp.example.com/mcp';

function parse(oauth: unknown, headers = {}): ConnectionConfig {
  const parsed = parseConnectionConfig('HTTP', { base_url: url, headers, oauth }, rules);
  if (!parsed.config) throw new Error(JSON.stringify(parsed.issues));
  return parsed.config;
}

function problems(oauth: unknown, headers = {}): string[] {
  const { issues = [] } = parseConnectionConfig('HTTP', { base_url: url, headers, oauth }, rules);
  return issues.map((issue) => `${issue.loc.join('.')}: ${issue.msg}`);
}

const machine = {
  grant: 'client_credentials',
  client_id: 'switchboard',
  client_secret: '${CLIENT_SECRET}',
  issuer: 'https://id.example.com',
};

describe('oauth in the configuration of a server', () => {
  it('may be empty: everything can be discovered', () => {
    expect(parse({})).toMatchObject({ oauth: { grant: 'authorization_code' } });
  });

  it('accepts a client, with or without a secret', () => {
    expect(problems({ client_id: 'a' })).toEqual([]);
    expect(problems({ client_id: 'a', client_secret: 'b' })).toEqual([]);
    expect(problems(machine)).toEqual([]);
    const { client_secret: _secret, ...signed } = machine;
    expect(problems({ ...signed, private_key: '${KEY}', algorithm: 'ES256' })).toEqual([]);
  });

  it.each<[string, object, string]>([
    ['a secret without a client', { client_secret: 'b' }, 'oauth.client_id: Is required'],
    ['an unknown field', { client: 'a' }, 'oauth.client: Unknown field'],
    ['another grant', { grant: 'password' }, 'oauth.grant: '],
    [
      'client_credentials without a secret',
      { ...machine, client_secret: undefined },
      'oauth.client_secret: ',
    ],
    [
      'client_credentials with both',
      { ...machine, private_key: 'k', algorithm: 'RS256' },
      'oauth.client_secret: ',
    ],
    ['client_credentials without an issuer', { ...machine, issuer: undefined }, 'oauth.issuer: '],
    [
      'a key without its algorithm',
      { ...machine, client_secret: undefined, private_key: 'k' },
      'oauth.algorithm: ',
    ],
    [
      'a key where a person consents',
      { client_id: 'a', private_key: 'k', algorithm: 'RS256' },
      'oauth.private_key: ',
    ],
    [
      'a setting of the service',
      { client_id: '${DATABASE_URL}' },
      'oauth.client_id: ${DATABASE_URL} is a setting',
    ],
  ])('refuses %s', (_what, oauth, problem) => {
    expect(problems(oauth)).toEqual([expect.stringContaining(problem)]);
  });

  it('excludes an Authorization header', () => {
    expect(problems({}, { authorization: 'Bearer x' })).toEqual([
      'headers.authorization: OAuth sets this header; leave out one of the two',
    ]);
  });

  it('masks secret and key, and keeps them when the masked form is written back', () => {
    const config = parse({ ...machine, client_secret: 'a-secret-of-ours' });
    const shown = maskConfig(config);
    expect(shown['oauth']).toEqual({ ...machine, client_secret: '********' });
    expect(unmask(shown, config).raw).toMatchObject({
      oauth: { client_secret: 'a-secret-of-ours' },
    });
    expect(maskConfig(parse(machine))['oauth']).toEqual(machine);
  });

  it('is resolved with the rest, and its secrets are redacted', () => {
    const resolved = resolveConfig(parse(machine), (name) => `value of ${name}`);
    expect(resolved).toMatchObject({ oauth: { client_secret: 'value of CLIENT_SECRET' } });
    expect(secretsOf(resolved)).toEqual(['value of CLIENT_SECRET']);
  });
});
