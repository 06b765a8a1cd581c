import { type FieldIssue, InvalidInput, LOCAL_EGRESS } from '@app/platform';
import type { ConfigRules } from '../connection/connection-config.js';
import { type Registration, newServer } from './new-server.js';

const rules: ConfigRules = {
  allowInsecureHttp: false,
  egress: LOCAL_EGRESS,
  mayReference: () => true,
};
const now = new Date(7);
const given: Registration = {
  name: 'notes',
  transportType: 'STDIO',
  connectionConfig: { command: 'npx', args: ['server'] },
  autoConnect: true,
};

function issuesOf(changes: Partial<Registration>): readonly FieldIssue[] {
  try {
    newServer('id', { ...given, ...changes }, now, rules);
    return [];
  } catch (error) {
    if (error instanceof InvalidInput) return error.issues ?? [];
    throw error;
  }
}
const refusedFields = (changes: Partial<Registration>): string[] =>
  issuesOf(changes).map(({ loc }) => loc.join('.'));

describe(newServer.name, () => {
  it('begins disconnected, with nothing known of it', () => {
    const { server, config } = newServer('id', given, now, rules);
    expect(server).toMatchObject({
      id: 'id',
      name: 'notes',
      description: null,
      transportType: 'STDIO',
      status: 'DISCONNECTED',
      wanted: true,
      healthCheckUrl: null,
      trust: null,
      credentials: 'shared',
      toolCount: 0,
      warnings: [],
      errorMessage: null,
      consecutiveFailures: 0,
      registeredAt: now,
    });
    expect(config).toMatchObject({ transport: 'STDIO', command: 'npx', args: ['server'] });
  });

  it('keeps what was said about it', () => {
    const more = { description: 'my notes', healthCheckUrl: 'http://127.0.0.1/health' };
    const { server } = newServer('id', { ...given, ...more, autoConnect: false }, now, rules);
    expect(server).toMatchObject({ ...more, wanted: false });
  });

  it.each(['a', 'a1', 'a_b-c', 'a'.repeat(255)])('takes the name %s', (name) => {
    expect(refusedFields({ name })).toEqual([]);
  });

  it.each(['', 'A', '1a', '-a', '_a', 'a.b', 'a b', 'aB', 'ä', 'a\n', 'a'.repeat(256)])(
    'refuses the name %j',
    (name) => expect(refusedFields({ name })).toEqual(['body.name']),
  );

  it('says how long a name may be, and what it may be made of', () => {
    expect(issuesOf({ name: 'a'.repeat(256) })).toEqual([
      { loc: ['body', 'name'], msg: 'Must have at most 255 characters', type: 'value_error' },
    ]);
    expect(issuesOf({ name: 'A' })).toMatchObject([
      { msg: expect.stringContaining('lowercase letter') as string, type: 'value_error' },
    ]);
  });

  it.each(['http://a.example/health', 'https://a.example', 'http://127.0.0.1:1/x?y'])(
    'takes the health check URL %s',
    (healthCheckUrl) => expect(refusedFields({ healthCheckUrl })).toEqual([]),
  );

  it.each(['', 'a.example', '/health', 'ftp://a.example', 'file:///etc/passwd', 'https://'])(
    'refuses the health check URL %j',
    (healthCheckUrl) => {
      expect(issuesOf({ healthCheckUrl })).toEqual([
        {
          loc: ['body', 'health_check_url'],
          msg: 'Must be a URL that starts with http:// or https://',
          type: 'value_error',
        },
      ]);
    },
  );

  it('refuses a mask in the place of a value', () => {
    expect(issuesOf({ healthCheckUrl: 'https://a.example/?key=********' })).toMatchObject([
      { loc: ['body', 'health_check_url'], msg: expect.stringContaining('mask') as string },
    ]);
    const env = { KEY: '********' };
    expect(issuesOf({ connectionConfig: { command: 'npx', env } })).toMatchObject([
      {
        loc: ['body', 'connection_config', 'env', 'KEY'],
        msg: 'Is the mask of a hidden value; send the value itself',
      },
    ]);
  });

  it.each([
    ['STDIO', 'command', { command: '********' }],
    ['STDIO', 'args.1', { command: 'npx', args: ['a', '********'] }],
    ['SSE', 'url', { url: 'https://a.example/?key=********' }],
    ['HTTP', 'base_url', { base_url: 'https://a.example/?key=********' }],
    ['HTTP', 'headers.Key', { base_url: 'https://a.example', headers: { Key: '********' } }],
  ] as const)('says of %s which field has a mask: %s', (transportType, field, connectionConfig) => {
    expect(refusedFields({ transportType, connectionConfig })).toEqual([
      `body.connection_config.${field}`,
    ]);
  });

  it('refuses a configuration that is too large', () => {
    const args = Array.from({ length: 100 }, () => 'x'.repeat(4_000));
    expect(issuesOf({ connectionConfig: { command: 'npx', args } })).toMatchObject([
      { loc: ['body', 'connection_config'], msg: expect.stringContaining('Must have at most') },
    ]);
  });

  it('names every problem at once', () => {
    expect(refusedFields({ name: 'A', healthCheckUrl: 'x', connectionConfig: {} })).toEqual([
      'body.name',
      'body.health_check_url',
      'body.connection_config.command',
    ]);
  });
});
