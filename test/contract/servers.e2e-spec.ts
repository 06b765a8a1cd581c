import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { type Answer, send } from '../support/http.js';
import { npmServer } from '../support/servers.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const UNKNOWN_ID = '550e8400-e29b-41d4-a716-446655440000';

/** The example of the contract. No server listens there; registering does not wait for a connection. */
const github = {
  name: 'github-mcp',
  description: 'GitHub MCP Server for repository operations',
  transport_type: 'SSE',
  connection_config: {
    url: 'https://github-mcp.example.com/sse',
    headers: { Authorization: 'Bearer ${GITHUB_TOKEN}' },
  },
  health_check_url: 'https://github-mcp.example.com/health',
  auto_connect: true,
};

describe.each(['PGlite', 'PostgreSQL'] as const)('servers over REST, on %s', (engine) => {
  let service: TestApp;
  const call = (method: string, path: string, body?: unknown): Promise<Answer> =>
    send(service.url, `/api/v1/aggregator${path}`, {
      method,
      token: service.token,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const register = async (fields: object): Promise<{ id: string }> => {
    const answer = await call('POST', '/servers', { ...github, auto_connect: false, ...fields });
    expect(answer).toMatchObject({ status: 201 });
    return answer.body as { id: string };
  };
  const remove = async (id: string): Promise<void> => {
    expect((await call('DELETE', `/servers/${id}`)).status).toBe(204);
  };

  beforeAll(async () => {
    service = await startApp(engine === 'PGlite' ? { DATABASE_URL: '' } : {});
  });
  afterAll(() => service.close());

  describe('POST /servers', () => {
    it('answers 201 with the server as CONNECTING, without waiting for the connection', async () => {
      const answer = await call('POST', '/servers', github);
      expect(answer.status).toBe(201);
      expect(answer.body).toMatchObject({
        id: expect.stringMatching(UUID),
        name: 'github-mcp',
        description: 'GitHub MCP Server for repository operations',
        transport_type: 'SSE',
        status: 'CONNECTING',
        health_check_url: 'https://github-mcp.example.com/health',
        tool_count: 0,
        registered_at: expect.stringMatching(TIME),
        connected_at: null,
      });
      await remove((answer.body as { id: string }).id);
    });

    it('leaves it DISCONNECTED with auto_connect false', async () => {
      const server = await register({});
      expect(server).toMatchObject({ status: 'DISCONNECTED' });
      await remove(server.id);
    });

    it('connects by default', async () => {
      const { auto_connect: _, ...silent } = github;
      const answer = await call('POST', '/servers', silent);
      expect(answer.body).toMatchObject({ status: 'CONNECTING' });
      await remove((answer.body as { id: string }).id);
    });

    it('takes the transport in any case and answers it in upper case', async () => {
      const server = await register({ transport_type: 'sse' });
      expect(server).toMatchObject({ transport_type: 'SSE' });
      await remove(server.id);
    });

    it('refuses a name already taken with 409', async () => {
      const server = await register({});
      const answer = await call('POST', '/servers', github);
      expect(answer.status).toBe(409);
      expect(answer.body).toEqual({
        detail: 'Server already exists: github-mcp',
        error_code: 'SERVER_ALREADY_EXISTS',
      });
      await remove(server.id);
    });

    it('lets one of many simultaneous registrations of a name win', async () => {
      const answers = await Promise.all(
        Array.from({ length: 10 }, () =>
          call('POST', '/servers', { ...github, auto_connect: false }),
        ),
      );
      expect(answers.map((answer) => answer.status).toSorted((a, b) => a - b)).toEqual([
        201,
        ...Array<number>(9).fill(409),
      ]);
      const winner = answers.find((answer) => answer.status === 201)?.body as { id: string };
      await remove(winner.id);
    });

    it('says where a field of the transport is missing', async () => {
      const answer = await call('POST', '/servers', { ...github, connection_config: {} });
      expect(answer.status).toBe(422);
      expect(answer.body).toEqual({
        detail: [
          {
            loc: ['body', 'connection_config', 'url'],
            msg: "SSE transport requires 'url' in connection_config",
            type: 'value_error',
          },
        ],
        error_code: 'VALIDATION_ERROR',
      });
    });

    it.each<[string, object, (string | number)[]]>([
      ['a name in upper case', { name: 'GitHub' }, ['body', 'name']],
      ['a name that starts with a digit', { name: '1github' }, ['body', 'name']],
      ['a name with a dot', { name: 'git.hub' }, ['body', 'name']],
      ['a name with a line break at its end', { name: 'github\n' }, ['body', 'name']],
      ['an empty name', { name: '' }, ['body', 'name']],
      ['a name of 256 characters', { name: 'a'.repeat(256) }, ['body', 'name']],
      ['no name', { name: undefined }, ['body', 'name']],
      ['a name that is no text', { name: 7 }, ['body', 'name']],
      [
        'a description of 1001 characters',
        { description: 'x'.repeat(1001) },
        ['body', 'description'],
      ],
      ['an unknown transport', { transport_type: 'WEBSOCKET' }, ['body', 'transport_type']],
      ['no transport', { transport_type: undefined }, ['body', 'transport_type']],
      ['no connection_config', { connection_config: undefined }, ['body', 'connection_config']],
      [
        'a connection_config that is a list',
        { connection_config: [] },
        ['body', 'connection_config'],
      ],
      ['an unknown field', { surprise: 1 }, ['body', 'surprise']],
      [
        'an unknown field of the connection',
        { connection_config: { url: 'https://a.example', x: 1 } },
        ['body', 'connection_config', 'x'],
      ],
      ['a health URL that is none', { health_check_url: 'nonsense' }, ['body', 'health_check_url']],
      [
        'a health URL of another protocol',
        { health_check_url: 'ftp://a.example' },
        ['body', 'health_check_url'],
      ],
      ['auto_connect that is no boolean', { auto_connect: 'yes' }, ['body', 'auto_connect']],
      [
        'http: to another machine',
        { connection_config: { url: 'http://a.example/sse' } },
        ['body', 'connection_config', 'url'],
      ],
      [
        'a placeholder for a setting of the service',
        { connection_config: { url: 'https://a.example', headers: { k: '${DATABASE_URL}' } } },
        ['body', 'connection_config', 'headers', 'k'],
      ],
      [
        'a mask in the place of a secret',
        { connection_config: { url: 'https://a.example', headers: { k: '********' } } },
        ['body', 'connection_config', 'headers', 'k'],
      ],
    ])('refuses %s', async (_, fields, loc) => {
      const answer = await call('POST', '/servers', { ...github, ...fields });
      expect(answer.status).toBe(422);
      expect(answer.body).toMatchObject({ detail: [{ loc }], error_code: 'VALIDATION_ERROR' });
    });

    it('accepts a name of 255 characters and a description of 1000', async () => {
      const server = await register({ name: 'a'.repeat(255), description: 'ü'.repeat(1000) });
      await remove(server.id);
    });
  });

  describe('GET /servers', () => {
    it('pages by name, and counts all', async () => {
      const names = ['beta', 'alpha', 'delta', 'gamma'];
      const made = await Promise.all(names.map((name) => register({ name })));
      const answer = await call('GET', '/servers?limit=2&offset=1');
      expect(answer.status).toBe(200);
      expect(answer.body).toMatchObject({
        servers: [{ name: 'beta' }, { name: 'delta' }],
        total: 4,
        limit: 2,
        offset: 1,
      });
      await Promise.all(made.map(({ id }) => remove(id)));
    });

    it('filters by status in any case', async () => {
      const server = await register({});
      const names = async (status: string): Promise<unknown> =>
        (await call('GET', `/servers?status=${status}`)).body;
      expect(await names('disconnected')).toMatchObject({
        servers: [{ name: 'github-mcp' }],
        total: 1,
      });
      expect(await names('CONNECTED')).toMatchObject({ servers: [], total: 0 });
      await remove(server.id);
    });

    it.each([
      'limit=0',
      'limit=501',
      'limit=ten',
      'limit=1e2',
      'limit=',
      'offset=-1',
      'offset=99999999999999999999',
      'limit=1&limit=2',
      'status=HAPPY',
      'include_tools=perhaps',
      'surprise=1',
    ])('refuses %s', async (query) => {
      const answer = await call('GET', `/servers?${query}`);
      expect(answer.status).toBe(422);
      expect(answer.body).toMatchObject({
        detail: [{ loc: ['query', query.split('=')[0]] }],
        error_code: 'VALIDATION_ERROR',
      });
    });
  });

  describe('GET /servers/{id}', () => {
    it('shows how the server is reached, with literal secrets masked and placeholders as written', async () => {
      const server = await register({
        connection_config: {
          url: 'https://github-mcp.example.com/sse?key=very-secret',
          headers: { Authorization: 'Bearer ${GITHUB_TOKEN}', 'X-Key': 'very-secret' },
        },
      });
      const answer = await call('GET', `/servers/${server.id}`);
      expect(answer.body).toMatchObject({
        id: server.id,
        connection_config: {
          url: 'https://github-mcp.example.com/sse?key=********',
          headers: { Authorization: 'Bearer ${GITHUB_TOKEN}', 'X-Key': '********' },
        },
        status: 'DISCONNECTED',
        last_health_check: null,
        error_message: null,
        updated_at: expect.stringMatching(TIME),
      });
      await remove(server.id);
    });

    it.each([
      ['a server that is not there', UNKNOWN_ID],
      ['a word', 'not-a-uuid'],
      ['a path', '..%2f..'],
      ['a number', '0'],
      ['a very long word', 'a'.repeat(1_000)],
    ])('answers 404 for %s', async (_, id) => {
      const answer = await call('GET', `/servers/${id}`);
      expect(answer.status).toBe(404);
      expect(answer.body).toMatchObject({
        detail: expect.stringContaining('Server not found: '),
        error_code: 'SERVER_NOT_FOUND',
      });
    });
  });

  describe('PATCH /servers/{id}', () => {
    it('changes what is given and keeps the rest', async () => {
      const server = await register({});
      const answer = await call('PATCH', `/servers/${server.id}`, {
        description: null,
        health_check_url: null,
      });
      expect(answer.status).toBe(200);
      expect(answer.body).toMatchObject({
        name: 'github-mcp',
        description: null,
        health_check_url: null,
      });
      expect(answer.body).toMatchObject({
        connection_config: { url: 'https://github-mcp.example.com/sse' },
      });
      await remove(server.id);
    });

    it('keeps the stored secret where the mask is written back', async () => {
      const server = await register({
        connection_config: {
          url: 'https://a.example/sse',
          headers: { K: 'stored-secret', L: 'x' },
        },
      });
      const patch = {
        connection_config: {
          url: 'https://a.example/sse',
          headers: { K: '********', M: '${NEW}' },
        },
      };
      expect((await call('PATCH', `/servers/${server.id}`, patch)).body).toMatchObject({
        connection_config: { headers: { K: '********', M: '${NEW}' } },
      });
      const invented = {
        connection_config: { url: 'https://a.example/sse', headers: { X: '********' } },
      };
      expect((await call('PATCH', `/servers/${server.id}`, invented)).status).toBe(422);
      await remove(server.id);
    });

    it('sends no stored secret to another origin: it wants the value again, field by field', async () => {
      const server = await register({
        connection_config: {
          url: 'https://a.example/sse',
          headers: { K: 'stored-secret', L: 'another-secret', M: '${OPEN}' },
        },
        health_check_url: 'https://a.example/health?key=stored-secret',
      });
      const headers = { K: '********', L: '********', M: '${OPEN}' };
      const elsewhere = await call('PATCH', `/servers/${server.id}`, {
        connection_config: { url: 'https://evil.example/sse', headers },
      });
      expect(elsewhere.status).toBe(422);
      expect(elsewhere.body).toMatchObject({
        detail: ['K', 'L'].map((name) => ({
          loc: ['body', 'connection_config', 'headers', name],
          msg: expect.stringContaining('was given for https://a.example'),
        })),
      });
      const health = (health_check_url: string): Promise<{ status: number }> =>
        call('PATCH', `/servers/${server.id}`, { health_check_url });
      expect((await health('https://evil.example/health?key=********')).status).toBe(422);
      expect((await health('https://a.example/health?key=********')).status).toBe(200);
      expect((await call('GET', `/servers/${server.id}`)).body).toMatchObject({
        connection_config: { url: 'https://a.example/sse' },
        health_check_url: 'https://a.example/health?key=********',
      });
      await remove(server.id);
    });

    it('says which setting allows an address that is refused', async () => {
      const server = await register({});
      for (const [patch, field] of [
        [{ connection_config: { url: 'https://169.254.169.254/sse' } }, 'connection_config'],
        [{ health_check_url: 'http://[::ffff:169.254.169.254]/' }, 'health_check_url'],
      ] as const) {
        const answer = await call('PATCH', `/servers/${server.id}`, patch);
        expect(answer.status).toBe(422);
        expect(answer.body).toMatchObject({
          detail: [
            {
              loc: expect.arrayContaining(['body', field]),
              msg: expect.stringContaining('MCP_AGGREGATOR_EGRESS_ALLOW'),
            },
          ],
        });
      }
      await remove(server.id);
    });

    it.each<[string, object, number]>([
      ['another transport', { transport_type: 'HTTP' }, 422],
      ['a name that is none', { name: null }, 422],
      [
        'fields of another transport',
        { connection_config: { base_url: 'https://a.example' } },
        422,
      ],
    ])('refuses %s', async (_, patch, status) => {
      const server = await register({});
      expect((await call('PATCH', `/servers/${server.id}`, patch)).status).toBe(status);
      await remove(server.id);
    });

    it('refuses the name of another server with 409', async () => {
      const [one, other] = await Promise.all([register({}), register({ name: 'other' })]);
      expect((await call('PATCH', `/servers/${other.id}`, { name: 'github-mcp' })).status).toBe(
        409,
      );
      await Promise.all([remove(one.id), remove(other.id)]);
    });

    it('answers 404 for a server that is not there', async () => {
      expect((await call('PATCH', `/servers/${UNKNOWN_ID}`, { description: 'x' })).status).toBe(
        404,
      );
    });
  });

  describe('DELETE /servers/{id}', () => {
    it('answers 204 without a body, then 404', async () => {
      const { id } = await register({});
      const first = await call('DELETE', `/servers/${id}`);
      expect([first.status, first.text]).toEqual([204, '']);
      const second = await call('DELETE', `/servers/${id}`);
      expect(second.status).toBe(404);
      expect(second.body).toEqual({
        detail: `Server not found: ${id}`,
        error_code: 'SERVER_NOT_FOUND',
      });
    });
  });

  it('keeps every change in the history and in the audit log, with who did it', async () => {
    const server = await register({});
    await call('PATCH', `/servers/${server.id}`, { name: 'renamed' });
    const history = await call('GET', `/servers/${server.id}/history`);
    expect(history.body).toMatchObject({
      events: [
        { event_type: 'RENAMED', details: { from: 'github-mcp', to: 'renamed' } },
        { event_type: 'REGISTERED' },
      ],
      total: 2,
    });
    await remove(server.id);
    const audit = await call('GET', `/audit?server_id=${server.id}`);
    expect(audit.body).toMatchObject({
      entries: [
        {
          event: 'server.removed',
          actor: 'admin',
          ip_address: '127.0.0.1',
          server_name: 'renamed',
        },
        { event: 'server.updated', details: { fields: ['name'] } },
        { event: 'server.registered', outcome: 'success', server_name: 'github-mcp' },
      ],
      total: 3,
    });
  });

  describe('a connected server', () => {
    let id: string;
    beforeAll(async () => {
      const answer = await call('POST', '/servers', {
        name: 'everything',
        transport_type: 'STDIO',
        connection_config: npmServer('everything', 'stdio'),
      });
      ({ id } = answer.body as { id: string });
      await eventually(async () => {
        expect((await call('GET', `/servers/${id}`)).body).toMatchObject({
          status: 'CONNECTED',
          connected_at: expect.stringMatching(TIME),
        });
        const { body } = await call('GET', `/servers/${id}/tools`);
        expect((body as { total: number }).total).toBeGreaterThan(0);
      });
    });
    afterAll(() => remove(id));

    it('lists its tools under its name', async () => {
      const { body } = await call('GET', `/servers/${id}/tools?limit=500`);
      const { tools } = body as { tools: { name: string }[] };
      expect(tools.find((tool) => tool.name === 'everything.echo')).toMatchObject({
        id: expect.stringMatching(/^\d+$/),
        original_name: 'echo',
        description: expect.any(String),
        skill_ids: expect.any(Array),
        is_classified: expect.any(Boolean),
        discovered_at: expect.stringMatching(TIME),
      });
    });

    it('is listed with its tools when they are asked for', async () => {
      const { body } = await call('GET', '/servers?include_tools=true&status=connected');
      const { servers } = body as { servers: { tool_count: number; tools: object[] }[] };
      expect(servers[0]?.tools).toHaveLength(servers[0]?.tool_count ?? 0);
    });

    it('counts in the state', async () => {
      expect((await call('GET', '/state')).body).toMatchObject({
        total_servers: 1,
        connected_servers: 1,
        disconnected_servers: 0,
        error_servers: 0,
        connecting_servers: 0,
        last_sync: expect.stringMatching(TIME),
        health_check_interval_seconds: 30,
        uptime_seconds: expect.any(Number),
      });
    });

    it('makes the service healthy', async () => {
      await eventually(async () =>
        expect((await send(service.url, '/api/v1/aggregator/health')).body).toMatchObject({
          status: 'healthy',
          checks: { database: 'ok', sessions: 'ok' },
          servers: { total: 1, connected: 1, error: 0 },
        }),
      );
    });

    it('takes its tools along when it is renamed', async () => {
      await call('PATCH', `/servers/${id}`, { name: 'renamed' });
      await eventually(async () => {
        const { body } = await call('GET', `/servers/${id}/tools?limit=500`);
        const { tools } = body as { tools: { name: string }[] };
        expect(tools.every((tool) => tool.name.startsWith('renamed.'))).toBe(true);
      });
      await call('PATCH', `/servers/${id}`, { name: 'everything' });
    });

    it('is asked again which tools it has', async () => {
      const answer = await call('POST', `/servers/${id}/tools/refresh`);
      expect(answer.status).toBe(202);
      expect(answer.body).toEqual({
        server_id: id,
        status: 'REFRESHING',
        message: 'Tool discovery initiated',
      });
    });

    it('is left alone by a second connect', async () => {
      const answer = await call('POST', `/servers/${id}/connect`);
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual({
        server_id: id,
        status: 'CONNECTED',
        message: 'Server already connected',
      });
    });

    it('disconnects, answers 503 to what needs it, and connects again', async () => {
      const gone = await call('POST', `/servers/${id}/disconnect`, { force: false });
      expect(gone.status).toBe(200);
      expect(gone.body).toMatchObject({ server_id: id, pending_requests: expect.any(Number) });
      await eventually(async () => {
        expect((await call('GET', `/servers/${id}`)).body).toMatchObject({
          status: 'DISCONNECTED',
        });
      });
      expect((await call('POST', `/servers/${id}/tools/refresh`)).body).toEqual({
        detail: 'Server unavailable: everything',
        error_code: 'SERVER_UNAVAILABLE',
        server: { id, name: 'everything', status: 'DISCONNECTED' },
      });
      const back = await call('POST', `/servers/${id}/connect?wait_seconds=60`);
      expect(back.body).toMatchObject({ server_id: id, status: 'CONNECTED' });
    });
  });
});

describe('the limit on servers', () => {
  it('refuses one more with 409, also when many come at once', async () => {
    const service = await startApp({ MCP_AGGREGATOR_MAX_SERVERS: '3' });
    try {
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, i) =>
          send(service.url, '/api/v1/aggregator/servers', {
            method: 'POST',
            token: service.token,
            body: JSON.stringify({ ...github, name: `server-${i}`, auto_connect: false }),
          }),
        ),
      );
      expect(answers.filter((answer) => answer.status === 201)).toHaveLength(3);
      expect(answers.find((answer) => answer.status === 409)?.body).toMatchObject({
        error_code: 'SERVER_LIMIT_REACHED',
        context: { limit: 3 },
      });
    } finally {
      await service.close();
    }
  });
});
