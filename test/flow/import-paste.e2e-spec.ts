import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { ROWS_ONLY } from '../support/rows.js';

interface Planned {
  readonly key: string;
  readonly verdict: string;
  readonly reason: string | null;
  readonly changes: readonly string[];
  readonly missing_variables: readonly string[];
  readonly registration: Record<string, unknown> | null;
}

const SECRET = 'the-secret-of-this-paste';
const text = JSON.stringify({
  mcpServers: {
    Sentry: { url: 'https://mcp.sentry.dev/mcp' },
    linear: {
      url: 'https://mcp.linear.app/mcp',
      headers: { Authorization: 'Bearer ${LINEAR_KEY_OF_THIS_TEST}' },
    },
    docs: { url: 'https://docs.example/mcp', headers: { 'X-Key': SECRET } },
    same: { url: 'https://known.example/mcp' },
    other: { url: 'https://known.example/mcp' },
    near: { url: 'http://169.254.169.254/mcp' },
    notes: {},
  },
});

describe('pasting servers', () => {
  let service: TestApp;
  let api: Api;
  const preview = async (body: object): Promise<readonly Planned[]> => {
    const { status, body: view } = await api.call('POST', '/servers/import/preview', body);
    expect(status).toBe(200);
    return view['servers'] as Planned[];
  };
  const names = async (): Promise<string[]> => Object.keys(await api.statuses());

  beforeAll(async () => {
    service = await startApp(ROWS_ONLY);
    api = new Api(service);
    for (const [name, base_url] of [
      ['same', 'https://known.example/mcp'],
      ['docs', 'https://docs.example/mcp'],
    ]) {
      await api.register({
        name,
        transport_type: 'HTTP',
        connection_config: { base_url },
        auto_connect: false,
      });
    }
  });
  afterAll(() => service.close());

  it('shows what would happen to each, without secrets, and saves nothing', async () => {
    const planned = await preview({ text });
    expect(Object.fromEntries(planned.map(({ key, verdict }) => [key, verdict]))).toEqual({
      Sentry: 'new',
      linear: 'new',
      docs: 'changed',
      same: 'known',
      other: 'known',
      near: 'unusable',
      notes: 'unusable',
    });
    const of = (key: string) => planned.find((entry) => entry.key === key);
    expect(of('Sentry')?.registration).toEqual({
      name: 'sentry',
      description: null,
      transport_type: 'HTTP',
      connection_config: { base_url: 'https://mcp.sentry.dev/mcp', headers: {} },
      auto_connect: true,
      trust: null,
    });
    expect(of('linear')?.missing_variables).toEqual(['LINEAR_KEY_OF_THIS_TEST']);
    expect(of('docs')).toMatchObject({
      changes: ['headers'],
      server_name: 'docs',
      registration: { connection_config: { headers: { 'X-Key': '********' } } },
    });
    expect(of('other')?.reason).toBe('It is registered as same');
    expect(of('near')?.reason).toContain('base_url');
    expect(of('notes')?.reason).toContain('neither');
    expect(JSON.stringify(planned)).not.toContain(SECRET);
    expect(await names()).toEqual(['docs', 'same']);
  });

  it('reads one URL and one command line', async () => {
    expect(await preview({ text: 'https://mcp.sentry.dev/mcp' })).toMatchObject([
      { key: 'sentry', verdict: 'new', registration: { transport_type: 'HTTP' } },
    ]);
    expect(await preview({ text: 'npx -y @modelcontextprotocol/server-memory' })).toMatchObject([
      { key: 'memory', verdict: 'new', registration: { transport_type: 'STDIO' } },
    ]);
  });

  it('says what is wrong with a paste as a whole', async () => {
    expect(await api.call('POST', '/servers/import/preview', { text: '{' })).toMatchObject({
      status: 400,
      body: { error_code: 'SERVERS_FILE_UNREADABLE' },
    });
    for (const body of [
      {},
      { text: '' },
      { text: 'x', values: { A: 1 } },
      { text: 'x', keys: [] },
    ]) {
      expect((await api.call('POST', '/servers/import/preview', body)).status).toBe(422);
    }
  });

  it('registers those that are chosen and new, with the given values', async () => {
    const { status, body } = await api.call('POST', '/servers/import', {
      text,
      keys: ['linear', 'docs', 'notes', 'missing'],
      values: { LINEAR_KEY_OF_THIS_TEST: SECRET },
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      registered: [{ name: 'linear', status: 'DISCONNECTED' }],
      skipped: expect.arrayContaining([
        { key: 'missing', reason: 'it was not pasted' },
        expect.objectContaining({ key: 'docs' }),
        expect.objectContaining({ key: 'notes' }),
      ]) as unknown,
    });
    expect(JSON.stringify(body)).not.toContain(SECRET);
    expect(await names()).toEqual(['docs', 'linear', 'same']);
    const again = await preview({ text, values: { LINEAR_KEY_OF_THIS_TEST: SECRET } });
    expect(again.find(({ key }) => key === 'linear')?.verdict).toBe('known');
  });

  it('is for admins', async () => {
    const caller = new Api({ url: service.url, token: service.tokens.call });
    for (const path of ['/servers/import/preview', '/servers/import']) {
      expect((await caller.call('POST', path, { text })).status).toBe(403);
    }
  });
});
