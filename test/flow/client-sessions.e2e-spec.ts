import { startApp, type TestApp } from '../support/app.js';
import { Api } from '../support/api.js';
import { eventually } from '../support/eventually.js';
import { readEvents } from '../support/event-reader.js';
import { send } from '../support/http.js';

interface Listed {
  readonly sessions: readonly Readonly<Record<string, unknown>>[];
  readonly total: number;
}

describe('clients that are connected', () => {
  let service: TestApp;
  let api: Api;
  beforeAll(async () => {
    service = await startApp();
    api = new Api(service);
  });
  afterAll(() => service.close());

  const post = (message: object, headers: Record<string, string> = {}) =>
    send(service.url, '/mcp', {
      method: 'POST',
      token: service.tokens.call,
      headers: { accept: 'application/json, text/event-stream', ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    });
  const initialize = async (name: string): Promise<string> => {
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: { roots: {}, sampling: {} },
      clientInfo: { name, version: '1.2' },
    };
    const { headers } = await post({ id: 1, method: 'initialize', params });
    return headers['mcp-session-id'] ?? '';
  };
  const listed = async (): Promise<Listed> =>
    (await api.call('GET', '/sessions')).body as unknown as Listed;
  const named = async (name: string) =>
    (await listed()).sessions.find((session) => session['client_name'] === name);

  it('are listed with what they said of themselves, and without their session id', async () => {
    const session = await initialize('legacy-client');
    await post(
      { id: 2, method: 'tools/call', params: { name: 'nothing' } },
      {
        'mcp-session-id': session,
      },
    );
    const shown = await named('legacy-client');
    expect(shown).toEqual({
      id: expect.any(String),
      caller: 'call',
      era: 'legacy',
      client_name: 'legacy-client',
      client_version: '1.2',
      protocol_version: '2025-11-25',
      endpoint: '/mcp',
      view: 'default',
      capabilities: ['roots', 'sampling'],
      subscriptions: 0,
      streams: 0,
      opened_at: expect.any(String),
      last_seen_at: expect.any(String),
      calls: 1,
      running: 0,
      replica: expect.stringMatching(/^[0-9a-f]{8}$/),
    });
    expect(session).not.toContain(shown?.['id']);
  });

  it('are listed without a session too, while they send requests', async () => {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'modern-client', version: '3' },
      'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
    };
    const answer = await post(
      { id: 1, method: 'tools/list', params: { _meta: meta } },
      { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' },
    );
    expect(answer.status).toBe(200);
    expect(await named('modern-client')).toMatchObject({
      era: 'modern',
      protocol_version: '2026-07-28',
      capabilities: ['elicitation'],
      calls: 0,
    });
  });

  it('begin a new session once an admin has ended theirs', async () => {
    const events = await readEvents(service, '?topics=session');
    const session = await initialize('ended-client');
    const { id } = (await named('ended-client')) ?? {};
    const path = `/api/v1/aggregator/sessions/${String(id)}`;
    const refused = await send(service.url, path, { method: 'DELETE', token: service.tokens.call });
    expect(refused.status).toBe(403);
    expect((await api.call('DELETE', `/sessions/${String(id)}`)).status).toBe(204);
    expect(await named('ended-client')).toBeUndefined();
    const after = await post({ id: 2, method: 'ping' }, { 'mcp-session-id': session });
    expect(after.status).toBe(404);
    expect((await api.call('DELETE', `/sessions/${String(id)}`)).status).toBe(404);
    await eventually(() =>
      expect(events.of('session').map(({ data }) => data['change'])).toEqual(['opened', 'ended']),
    );
    events.close();
  });

  it('are named to admins alone', async () => {
    await initialize('anyone');
    const { body } = await send(service.url, '/api/v1/aggregator/sessions', {
      token: service.tokens.read,
    });
    const { sessions } = body as Listed;
    expect(sessions.map(({ caller }) => caller)).toEqual(sessions.map(() => null));
  });
});
