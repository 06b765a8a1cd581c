import { credentialsOf } from './credentials.js';

const stdio = (env: Record<string, string>, args: string[] = []): string[] =>
  credentialsOf({ kind: 'STDIO', command: 'npx', args, env });
const http = (headers: Record<string, string>, url = 'https://a.example/mcp'): string[] =>
  credentialsOf({ kind: 'HTTP', url, headers });

describe(credentialsOf.name, () => {
  it.each([
    ['API_KEY', 'a-key-of-ours'],
    ['GITHUB_PERSONAL_ACCESS_TOKEN', 'very-secret'],
    ['GITHUBTOKEN', 'hunter-22'],
    ['dbPassword', 'correct horse'],
    ['ANYTHING', 'ghp_0123456789abcdefABCDEF0123456789abcd'],
    ['ANYTHING', 'xoxb-1-2-3'],
    ['ANYTHING', 'gho_abcdefghijkl'],
    ['ANYTHING', 'github_pat_abcdef'],
    ['ANYTHING', 'glpat-abcdefghij'],
    ['ANYTHING', 'sk-ant-abcdefghi'],
    ['ANYTHING', 'eyJhbGciOi.eyJzdWIi'],
    ['ANYTHING', 'hf_abcdefghijkl'],
    ['ANYTHING', '-----BEGIN PRIVATE KEY-----'],
    ['ANYTHING', 'abcdefghijklmnopq12345'],
    ['ANYTHING', '4f2a9c1e8b7d6a5f4e3d2c1b'],
    ['SESSION', '1234567890'],
  ])('treats the variable %s with %s as a credential', (name, value) => {
    expect(stdio({ [name]: value })).toEqual([value]);
  });

  it.each([
    ['NODE_ENV', 'production'],
    ['AWS_REGION', 'us-gov-west-1'],
    ['MODEL', 'gpt-4o-mini-2024-07-18'],
    ['ROOT', '/home/user/projects/0123456789abcdef0123'],
    ['API_URL', 'https://api.example.com/v1/0123456789abcdef0123'],
    ['PROJECT', '123e4567-e89b-12d3-a456-426614174000'],
    ['AUTH_MODE', 'enabled'],
    ['TOKEN_TYPE', 'Bearer'],
    ['KEY_ID', '123456'],
    ['PASS', 'abc-1'],
    ['AUTHOR', 'Jane Example'],
    ['OWNER', 'modelcontextprotocol'],
  ])('does not treat the variable %s with %s as a credential', (name, value) => {
    expect(stdio({ [name]: value })).toEqual([]);
  });

  it('finds the token in a header, with and without its scheme', () => {
    expect(http({ Authorization: 'Bearer some-token-1' })).toEqual([
      'Bearer some-token-1',
      'some-token-1',
    ]);
    const basic = Buffer.from('user-name:pass-word').toString('base64');
    expect(http({ authorization: `Basic ${basic}` })).toEqual([
      `Basic ${basic}`,
      basic,
      'user-name:pass-word',
      'pass-word',
    ]);
    expect(http({ 'X-Region': 'eu-central-1', 'User-Agent': 'switchboard' })).toEqual([]);
  });

  it('finds credentials in URLs and arguments', () => {
    const url = 'https://user:p%40ss-word@a.example/mcp?lang=english&api_key=query-key';
    expect(http({}, url).toSorted()).toEqual(['p%40ss-word', 'p@ss-word', 'query-key']);
    const args = ['server', '--token=one-token', '--api-key', 'two-token', '--root', '/home/user'];
    expect(stdio({}, [...args, 'postgres://me:db-pass@db.example/app?sslmode=require'])).toEqual([
      'one-token',
      'two-token',
      'db-pass',
    ]);
  });

  it('includes those of OAuth', () => {
    const oauth = {
      grant: 'client_credentials',
      client_id: 'id-of-ours',
      client_secret: 'a-secret',
    } as const;
    expect(credentialsOf({ kind: 'HTTP', url: 'https://a.example', headers: {}, oauth })).toEqual([
      'a-secret',
    ]);
  });
});
