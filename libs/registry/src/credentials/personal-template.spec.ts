import type { ConnectionConfig } from '../connection/connection-config.js';
import { parseConnectionConfig } from '../connection/parse-config.js';
import { credentialIssues, personalTemplate } from './personal-template.js';

const remote = (headers: Record<string, string>, more: object = {}): ConnectionConfig => ({
  transport: 'HTTP',
  base_url: 'https://mcp.example.com/mcp',
  headers,
  ...more,
});
const program = (env: Record<string, string>, args: string[] = []): ConnectionConfig => ({
  transport: 'STDIO',
  command: 'server',
  args,
  env,
});
const messages = (...given: Parameters<typeof credentialIssues>): string[] =>
  credentialIssues(...given).map(({ loc, msg }) => `${loc.slice(2).join('.')}: ${msg}`);

describe(personalTemplate.name, () => {
  it('names each value of a person once, in the order of the configuration', () => {
    const headers = { A: '${user.ONE}', B: 'x ${user.TWO:-y} ${user.ONE}' };
    expect(personalTemplate(remote(headers))).toMatchObject({
      fields: ['ONE', 'TWO'],
      usesOAuth: false,
    });
  });

  it('expects a login where a server over HTTP has no value and no Authorization header', () => {
    expect(personalTemplate(remote({ 'x-version': '3' })).usesOAuth).toBe(true);
    expect(personalTemplate(remote({ authorization: 'x' })).usesOAuth).toBe(false);
    expect(personalTemplate(program({})).usesOAuth).toBe(false);
  });

  it.each([
    [remote({}), { ...remote({}), base_url: 'https://other.example.com/mcp' }],
    [program({}), program({}, ['--other'])],
    [program({}), program({ NODE_OPTIONS: '--import x' })],
    [program({}), program({ API_URL: 'https://x' })],
    [program({ KEY: '${user.KEY}' }), program({ KEY: '${user.KEY}', TENANT: 'other' })],
  ] as const)(
    'has another destination where other code or another host gets the values: %#',
    (a, b) => {
      expect(personalTemplate(a).destination).not.toBe(personalTemplate(b).destination);
    },
  );
});

describe(credentialIssues.name, () => {
  it.each([
    remote({ Authorization: 'Bearer ${user.TOKEN:-shared-token-93jf}', 'x-version': '3' }),
    remote({ 'x-version': '${VERSION}' }),
    program({ TOKEN: '${user.TOKEN}', NODE_ENV: 'production' }),
  ])('accepts a configuration without anything that all people would share: %#', (config) => {
    expect(messages('per_user', config)).toEqual([]);
  });

  it.each([
    [remote({ Authorization: 'Bearer ${TOKEN}' }), 'headers.Authorization: Would be used'],
    [remote({ 'x-api-key': 'k', y: '${user.Y}' }), 'headers.x-api-key: Would be used'],
    [program({ API_TOKEN: 'abc', X: '${user.X}' }), 'env.API_TOKEN: Would be used'],
    [program({ X: '${user.X}' }, ['--token', 'secret-93jf84']), 'in arguments would be used'],
    [program({ NODE_ENV: 'production' }), 'Nothing is of the person'],
    [remote({}, { oauth: { grant: 'client_credentials' } }), 'has no person'],
  ] as const)('refuses a credential that all people would share: %#', (config, problem) => {
    expect(messages('per_user', config).join('\n')).toContain(problem);
  });

  it('refuses values of a person where all people share the credentials', () => {
    expect(messages('shared', program({ X: '${user.X}' })).join()).toContain(
      'credentials: per_user',
    );
  });

  it.each([
    'Bearer ${user.TOKEN}',
    'Bearer ${user.TOKEN:-ghp_of_a_machine}',
    'Token token=${user.TOKEN}',
    '${user.NAME}:${user.PASSWORD}',
  ])('takes %s, which holds nothing but what the person gave', (authorization) => {
    expect(messages('per_user', remote({ authorization }))).toEqual([]);
  });

  it.each([
    'Bearer ${user.TOKEN} ghp_0123456789abcdef',
    'user=${user.NAME};password=hunter2',
    '${user.NAME}:${SHARED}',
    '${user.NAME} 0a1b2c3d4e5f6a7b8c9d0e1f',
  ])('refuses %s, which holds a credential of all beside that of the person', (authorization) => {
    const issues = credentialIssues('per_user', remote({ authorization }));
    expect(issues.map(({ loc }) => loc.slice(2))).toEqual([['headers', 'authorization']]);
  });

  it('refuses one working folder for the processes of all people', () => {
    const config = { ...program({ API_KEY: '${user.API_KEY}' }), cwd: '/srv/jira' };
    const issues = credentialIssues('per_user', config);
    expect(issues.map(({ loc }) => loc.slice(2))).toEqual([['cwd']]);
  });
});

describe(parseConnectionConfig, () => {
  it.each(['HTTPS_PROXY', 'API_URL', 'NODE_OPTIONS'])(
    'lets no person give %s, which says what is run or connected to',
    (name) => {
      const raw = { command: 'jira-mcp', env: { [name]: '${user.X}' } };
      const rules = { mayReference: () => true, allowInsecureHttp: true };
      expect(parseConnectionConfig('STDIO', raw, rules as never).issues).toMatchObject([
        { loc: ['env', name] },
      ]);
    },
  );
});
