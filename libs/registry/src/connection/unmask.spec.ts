import { LOCAL_EGRESS } from '@app/platform';
import {
  type ConfigRules,
  type ConnectionConfig,
  type TransportType,
} from './connection-config.js';
import { maskConfig } from './mask-config.js';
import { parseConnectionConfig } from './parse-config.js';
import { newServer, readConfig } from '../register/new-server.js';
import { isStoredUrl, unmask } from './unmask.js';

const rules: ConfigRules = {
  allowInsecureHttp: false,
  egress: LOCAL_EGRESS,
  mayReference: () => true,
};

function stored(transport: TransportType, raw: unknown): ConnectionConfig {
  const { config, issues } = parseConnectionConfig(transport, raw, rules);
  if (!config) throw new Error(JSON.stringify(issues));
  return config;
}

/** The result of a PATCH that sends back the masked configuration with these changes. */
function patched(
  config: ConnectionConfig,
  changes: object,
): { config?: ConnectionConfig; refused: string[]; reasons: Set<string> } {
  const raw = { ...maskConfig(config), ...changes };
  const read = readConfig(config.transport, unmask(raw, config), rules);
  const issues = read.issues ?? [];
  return {
    ...(read.config && { config: read.config }),
    refused: issues.map(({ loc }) => loc.slice(2).join('.')),
    reasons: new Set(issues.map(({ msg }) => msg)),
  };
}

const http = stored('HTTP', {
  base_url: 'https://a.example/mcp?key=s3cret-value',
  headers: { 'X-Key': 'header-secret', 'X-Mixed': 'pre-${NAME}', 'X-Open': '${NAME}' },
});
const sse = stored('SSE', { url: 'https://a.example/sse', headers: { 'X-Key': 'header-secret' } });
const oauth = stored('HTTP', {
  base_url: 'https://a.example/mcp',
  oauth: { client_id: 'id', client_secret: 'client-secret', issuer: 'https://id.example/tenant-1' },
});
const program = stored('STDIO', {
  command: 'npx',
  args: ['server', '--token=argument-secret'],
  env: { KEY: 'env-secret', OTHER: 'other-secret', API_URL: 'https://a.example' },
});

describe(unmask.name, () => {
  it.each([http, sse, oauth, program])(
    'restores the stored values of a masked configuration that is written back',
    (config) => {
      expect(patched(config, {}).config).toEqual(config);
    },
  );

  it('hands no secret to a program in another working directory', () => {
    expect(patched(program, { cwd: '/elsewhere' }).refused).toEqual([
      'args.1',
      'env.KEY',
      'env.OTHER',
      'env.API_URL',
    ]);
  });

  it('restores masked values beside changed ones', () => {
    const { config } = patched(http, { headers: { 'X-Key': '********', C: 'new' } });
    expect(config).toEqual({ ...http, headers: { 'X-Key': 'header-secret', C: 'new' } });
    const renewed = { KEY: 'another', OTHER: '********', API_URL: '********' };
    expect(patched(program, { env: renewed }).config).toMatchObject({
      env: { KEY: 'another', OTHER: 'other-secret', API_URL: 'https://a.example' },
    });
  });

  it('keeps a mask without a stored value, so that validation refuses it', () => {
    expect(patched(http, { headers: { NEW: '********' } }).refused).toEqual(['headers.NEW']);
    expect(patched(sse, { headers: { constructor: '********' } }).refused).toEqual([
      'headers.constructor',
    ]);
  });

  it('does not take a value for unchanged that has more than the mask', () => {
    for (const given of ['x********', '********x', 'Bearer ********']) {
      expect(patched(sse, { headers: { 'X-Key': given } })).toEqual({
        refused: ['headers.X-Key'],
        reasons: new Set(['Is the mask of a hidden value; send the value itself']),
      });
    }
  });

  it('keeps the secrets of a program whose other variables change', () => {
    const shown = { KEY: '********', OTHER: '********', API_URL: '********' };
    for (const name of ['PATHOGEN', 'HOMEWORK', 'MY_SHELL', 'ENVY']) {
      const env = { ...shown, [name]: 'x' };
      expect(patched(program, { env }).config).toMatchObject({ env: { KEY: 'env-secret' } });
    }
  });

  it('does not hand out what the program had when there are no variables any more', () => {
    for (const env of [undefined, {}]) {
      expect(patched(program, { env }).refused).toContain('args.1');
    }
  });

  it.each([
    ['scheme', 'http://a.example/mcp'],
    ['host', 'https://b.example/mcp'],
    ['port', 'https://a.example:8443/mcp'],
    ['host behind credentials', 'https://a.example@b.example/mcp'],
    ['host, as browsers read it', 'https:\\\\b.example/mcp'],
    ['host by a placeholder', 'https://${HOST}/mcp'],
  ])('hands no masked value to another %s', (_, base_url) => {
    const { refused, reasons } = patched(
      stored('HTTP', {
        base_url: 'https://a.example/mcp',
        headers: http.transport === 'HTTP' ? http.headers : {},
      }),
      { base_url },
    );
    if (base_url.startsWith('http:')) expect(refused).toEqual(['base_url']);
    else {
      expect(refused).toEqual(['headers.X-Key', 'headers.X-Mixed']);
      expect([...reasons]).toEqual([expect.stringContaining('was given for https://a.example:')]);
    }
  });

  it.each([
    'https://a.example/other',
    'https://A.example:443/mcp',
    'https://a.example/mcp?page=2#x',
  ])('treats %s as the same origin', (url) => {
    expect(patched(sse, { url }).config).toMatchObject({ headers: { 'X-Key': 'header-secret' } });
  });

  it('accepts a new origin when every value is sent again', () => {
    const changes = { url: 'https://b.example/sse', headers: { 'X-Key': 'for-the-new-one' } };
    expect(patched(sse, changes).config).toEqual({ transport: 'SSE', ...changes });
    expect(patched(sse, { url: 'https://b.example/sse', headers: {} }).refused).toEqual([]);
  });

  it('compares a placeholder host as written', () => {
    const headers = { 'X-Key': 'header-secret' };
    const config = stored('SSE', { url: 'https://${HOST}:${PORT}/sse', headers });
    expect(patched(config, { url: 'https://${HOST}:${PORT}/other' }).refused).toEqual([]);
    expect(patched(config, { url: 'https://${OTHER}:${PORT}/sse' }).refused).toEqual([
      'headers.X-Key',
    ]);
  });

  it.each([
    ['another issuer', { issuer: 'https://evil.example' }],
    ['another tenant of it', { issuer: 'https://id.example/tenant-2' }],
    ['whatever the server names', { issuer: undefined }],
  ])('hands OAuth credentials to no other issuer: %s', (_, change) => {
    const shown = maskConfig(oauth)['oauth'] as object;
    const given = JSON.parse(JSON.stringify({ ...shown, ...change })) as object;
    const { refused, reasons } = patched(oauth, { oauth: given });
    expect(refused).toEqual(['oauth.client_secret']);
    expect([...reasons]).toEqual([expect.stringContaining('with a changed oauth.issuer')]);
    expect(patched(oauth, { base_url: 'https://b.example/mcp' }).refused).toEqual([
      'oauth.client_secret',
    ]);
  });

  it('keeps values that do not depend on the issuer', () => {
    const config = stored('HTTP', {
      base_url: 'https://a.example/mcp?key=s3cret-value',
      headers: { 'X-Key': 'header-secret' },
      oauth: { client_id: 'id', client_secret: 'client-secret' },
    });
    const given = { client_id: 'id', client_secret: '********', issuer: 'https://id.example' };
    expect(patched(config, { oauth: given }).refused).toEqual(['oauth.client_secret']);
    expect(
      patched(config, { oauth: { ...given, client_secret: 'client-secret' } }).config,
    ).toMatchObject({ ...config, oauth: { issuer: 'https://id.example' } });
  });

  it.each([
    ['another command', { command: 'curl' }, ['args.1', 'env.KEY', 'env.OTHER', 'env.API_URL']],
    [
      'another argument',
      { args: ['evil', '--token=********'] },
      ['args.1', 'env.KEY', 'env.OTHER', 'env.API_URL'],
    ],
    [
      'one more argument',
      { args: ['server', '--token=********', '--to=https://evil.example'] },
      ['args.1', 'env.KEY', 'env.OTHER', 'env.API_URL'],
    ],
    [
      'another server to talk to',
      { env: { KEY: '********', API_URL: 'https://evil.example' } },
      ['args.1', 'env.KEY'],
    ],
    ['the usual server instead of its own', { env: { KEY: '********' } }, ['args.1', 'env.KEY']],
    [
      'code to be loaded first',
      { env: { KEY: '********', API_URL: '********', LD_PRELOAD: '/tmp/evil.so' } },
      ['args.1', 'env.KEY', 'env.API_URL'],
    ],
  ])('hands the secrets of a program to no other program: %s', (_, changes, refused) => {
    expect(patched(program, changes).refused).toEqual(refused);
  });
});

describe(isStoredUrl.name, () => {
  it('recognises a masked health check URL that is written back', () => {
    const url = 'https://user:pass-word@a.example/health?key=s3cret';
    const shown = 'https://********:********@a.example/health?key=********';
    expect(isStoredUrl(shown, url)).toBe(true);
    expect(isStoredUrl(shown.replace('a.example', 'b.example'), url)).toBe(false);
    expect(isStoredUrl(url, url)).toBe(false);
    expect(isStoredUrl(null, url)).toBe(false);
    expect(isStoredUrl(shown, null)).toBe(false);
  });

  it('does not restore a masked health check URL for another host', () => {
    const registration = {
      name: 'a',
      transportType: 'SSE' as const,
      connectionConfig: { url: 'https://a.example' },
      healthCheckUrl: 'https://b.example/health?key=********',
      autoConnect: false,
    };
    expect(() => newServer('id', registration, new Date(0), rules)).toThrow('health_check_url');
  });
});
