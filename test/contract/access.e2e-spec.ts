import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { type Answer, send, sendRaw } from '../support/http.js';
import { TestIssuer } from '../support/issuer.js';

const AUDIT = '/api/v1/aggregator/audit';
const VIEWS = '/api/v1/aggregator/views';

/** Routes of every kind, added to Fastify directly, so that the tests do not depend on the product's routes. */
function addRoutes(app: NestFastifyApplication): void {
  const fastify = app.getHttpAdapter().getInstance();
  fastify.get('/test/public', { config: { access: 'public' } }, () => ({ open: true }));
  fastify.get('/test/read', { config: { access: 'read' } }, (request) => ({
    caller: request.principal,
  }));
  fastify.post('/test/call', { config: { access: 'call' } }, () => ({ called: true }));
}

const refusal = (error_code: string): unknown => ({
  detail: expect.any(String),
  error_code,
});

describe('a service with configured tokens', () => {
  let on: TestApp;

  beforeAll(async () => {
    on = await startApp({ MCP_AGGREGATOR_BODY_LIMIT: '10000' }, addRoutes);
  });

  afterAll(() => on.close());

  it('serves public routes without checking a token', async () => {
    for (const token of [undefined, 'wrong-token', on.token]) {
      const answer = await send(on.url, '/test/public', token === undefined ? {} : { token });
      expect(answer.status).toBe(200);
    }
  });

  it.each([
    ['no token', {}, 'Bearer realm="switchboard"'],
    [
      'a wrong token',
      { authorization: 'Bearer unknown-to-the-service' },
      'Bearer realm="switchboard", error="invalid_token"',
    ],
    [
      'another scheme',
      { authorization: 'Basic eDp5' },
      'Bearer realm="switchboard", error="invalid_request"',
    ],
    [
      'an empty token',
      { authorization: 'Bearer' },
      'Bearer realm="switchboard", error="invalid_request"',
    ],
  ])('refuses %s with 401 and the way to come back', async (_, headers, challenge) => {
    for (const path of ['/test/read', AUDIT, '/no/such/route', '/test/%72ead']) {
      const answer = await send(on.url, path, { headers });
      expect([path, answer.status, answer.body]).toEqual([path, 401, refusal('UNAUTHORIZED')]);
      const scopes = path === AUDIT ? 'read call operate admin' : 'read';
      expect(answer.headers['www-authenticate']).toBe(`${challenge}, scope="${scopes}"`);
    }
  });

  it.each([
    ['read', [200, 403, 403, 403]],
    ['call', [200, 200, 403, 403]],
    ['operate', [200, 200, 200, 403]],
    ['admin', [200, 200, 200, 200]],
  ] as const)('lets a token with the scope %s so far and no further', async (scope, statuses) => {
    const token = on.tokens[scope];
    const answers = [
      await send(on.url, '/test/read', { token }),
      await send(on.url, '/test/call', { token, method: 'POST', body: '{}' }),
      await send(on.url, VIEWS, { token }),
      await send(on.url, AUDIT, { token }),
    ];
    expect(answers.map((answer) => answer.status)).toEqual(statuses);
    expect(answers[0]?.body).toEqual({
      caller: {
        name: scope,
        scopes: [scope],
        subjects: [`token:${scope}`],
        subject: `token:${scope}`,
      },
    });
  });

  it('names the scope that is missing', async () => {
    const answer = await send(on.url, AUDIT, { token: on.tokens.call });
    expect(answer.body).toEqual({
      detail: "This needs a token with the scope 'admin'",
      error_code: 'FORBIDDEN',
      context: { required_scope: 'admin' },
    });
    expect(answer.headers['www-authenticate']).toContain('error="insufficient_scope"');
  });

  it('takes the scheme in any case, and any white space after it', async () => {
    for (const authorization of [`bearer ${on.token}`, `BEARER   ${on.token}`]) {
      expect((await send(on.url, '/test/read', { headers: { authorization } })).status).toBe(200);
    }
  });

  it('reads no body before authentication, and none that is too large', async () => {
    const large = { method: 'POST', body: `"${'x'.repeat(10_000)}"` };
    expect((await send(on.url, '/test/call', large)).status).toBe(401);
    expect((await send(on.url, '/no/such/route', large)).status).toBe(401);
    const answer = await send(on.url, '/test/call', { ...large, token: on.token });
    expect([answer.status, answer.body]).toEqual([413, refusal('PAYLOAD_TOO_LARGE')]);
  });

  it('opens the documentation to a person, with the token as password, and nothing else so', async () => {
    const basic = (password: string): Record<string, string> => ({
      authorization: `Basic ${Buffer.from(`me:${password}`).toString('base64')}`,
    });
    const asked = await send(on.url, '/docs');
    expect(asked.status).toBe(401);
    expect(asked.headers['www-authenticate']).toMatch(/^Basic realm="/);
    for (const path of ['/docs', '/docs/openapi.json', '/docs/swagger-ui.css']) {
      const status = async (headers: Record<string, string>): Promise<number> =>
        (await send(on.url, path, { headers })).status;
      expect(await status(basic(on.tokens.read))).toBe(200);
      expect(await status({ authorization: `Bearer ${on.tokens.read}` })).toBe(200);
      expect(await status(basic('wrong-password'))).toBe(401);
    }
    expect((await send(on.url, '/test/read', { headers: basic(on.token) })).status).toBe(401);
  });

  it('refuses foreign Host and Origin headers, and says which setting allows them', async () => {
    const { port } = new URL(on.url);
    const answer = async (headers: Record<string, string>): Promise<Answer> =>
      send(on.url, '/test/public', { headers });
    const byHost = await answer({ host: `evil.example.com:${port}` });
    expect([byHost.status, byHost.body]).toEqual([
      403,
      {
        ...Object(refusal('FORBIDDEN')),
        context: { header: 'Host', setting: 'MCP_AGGREGATOR_ALLOWED_HOSTS' },
      },
    ]);
    expect(byHost.text).not.toContain('evil');
    const byOrigin = await answer({ origin: 'https://evil.example.com' });
    expect([byOrigin.status, byOrigin.body]).toMatchObject([
      403,
      { context: { header: 'Origin', setting: 'MCP_AGGREGATOR_ALLOWED_ORIGINS' } },
    ]);
    expect((await answer({ host: `localhost:${port}` })).status).toBe(200);
    expect((await answer({ origin: on.url })).status).toBe(200);
  });

  it('answers no preflight of other pages', async () => {
    const answer = await send(on.url, '/test/read', {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example.com', 'access-control-request-method': 'GET' },
    });
    expect(answer.status).toBe(403);
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  });

  it('sends security headers, and a content security policy without foreign origins', async () => {
    const { headers } = await send(on.url, '/test/public');
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    const policy = headers['content-security-policy'] ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval|upgrade-insecure-requests/);
    expect(headers['x-powered-by']).toBeUndefined();
  });

  it.each([
    ['no HTTP', 'hello\r\n\r\n', 400],
    [
      'two lengths',
      'GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
      400,
    ],
    ['no host', 'GET /test/public HTTP/1.1\r\n\r\n', 400],
    ['huge headers', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ])('answers %s without a word about itself', async (_, bytes, status) => {
    const answer = await sendRaw(on.url, bytes);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer).not.toMatch(/node|fastify|HPE_|stack|Error:/i);
  });

  it('answers a path that cannot be decoded, without looking at tokens', async () => {
    const answer = await send(on.url, '/test/%ff');
    expect([answer.status, answer.body]).toEqual([400, refusal('MALFORMED_REQUEST')]);
  });

  it('times out a slow request', () => {
    const server = on.app.getHttpServer() as unknown as Record<string, number>;
    expect(server['headersTimeout']).toBe(15_000);
    expect(server['requestTimeout']).toBe(60_000);
    expect(server['keepAliveTimeout']).toBe(72_000);
  });

  it('publishes no OAuth metadata without an issuer', async () => {
    const answer = await send(on.url, '/.well-known/oauth-protected-resource');
    expect([answer.status, answer.body]).toEqual([404, refusal('NOT_FOUND')]);
  });

  describe('its audit log', () => {
    const entries = async (query: string): Promise<Record<string, unknown>[]> => {
      const answer = await send(on.url, `${AUDIT}?${query}`, { token: on.token });
      expect(answer.status).toBe(200);
      return (answer.body as { entries: Record<string, unknown>[] }).entries;
    };

    it('has refused access, with who, where from and what for', async () => {
      await send(on.url, '/test/call', { method: 'POST', token: on.tokens.read });
      const entry = await eventually(async () => {
        const found = (await entries('event=access.refused&limit=500')).find(
          ({ actor, details }) =>
            actor === 'read' && (details as { route: string }).route === '/test/call',
        );
        if (!found) throw new Error('not recorded yet');
        return found;
      });
      expect(entry).toEqual({
        id: expect.stringMatching(/^\d+$/),
        event: 'access.refused',
        outcome: 'refused',
        server_id: null,
        server_name: null,
        actor: 'read',
        actor_subject: 'token:read',
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        ip_address: '127.0.0.1',
        details: { method: 'POST', route: '/test/call', status: 403, count: 1 },
      });
    });

    it('holds no token and no path as it was sent', async () => {
      await send(on.url, '/no/such/secret-in-path?key=secret-in-query', { token: 'secret-token' });
      const all = JSON.stringify(await entries('limit=500'));
      expect(all).not.toMatch(/secret-|unknown-to-the-service/);
      for (const token of Object.values(on.tokens)) expect(all).not.toContain(token);
    });

    it('comes in pages, the newest first', async () => {
      const answer = await send(on.url, `${AUDIT}?limit=1&offset=1`, { token: on.token });
      expect(answer.body).toMatchObject({ limit: 1, offset: 1, total: expect.any(Number) });
      const [first, second] = await entries('limit=2');
      expect(Date.parse(String(first?.['timestamp']))).toBeGreaterThanOrEqual(
        Date.parse(String(second?.['timestamp'])),
      );
      expect(await entries('event=no.such.event')).toEqual([]);
      expect(await entries('server_id=550e8400-e29b-41d4-a716-446655440000')).toEqual([]);
    });

    it.each([
      'limit=0',
      'limit=501',
      'limit=1.5',
      'limit=ten',
      'limit=1&limit=2',
      'offset=-1',
      'offset=1e300',
      'server_id=7',
      'event=%00',
      'event=a&event=b',
      'colour=red',
    ])('refuses %s', async (query) => {
      const answer = await send(on.url, `${AUDIT}?${query}`, { token: on.token });
      expect([answer.status, answer.body]).toEqual([
        422,
        {
          error_code: 'VALIDATION_ERROR',
          detail: [
            {
              loc: ['query', query.split('=')[0]],
              msg: expect.any(String),
              type: expect.any(String),
            },
          ],
        },
      ]);
    });
  });
});

describe('a service with a limit', () => {
  let on: TestApp;

  beforeAll(async () => {
    on = await startApp({ MCP_AGGREGATOR_RATE_LIMIT: '5' }, addRoutes);
  });

  afterAll(() => on.close());

  const limited = (answer: Answer): void => {
    expect([answer.status, answer.body]).toEqual([429, refusal('RATE_LIMITED')]);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(answer.headers['retry-after'])).toBeLessThanOrEqual(60);
  };

  it('limits the requests of each caller per minute', async () => {
    const token = on.tokens.read;
    for (let i = 0; i < 5; i++) {
      expect((await send(on.url, '/test/read', { token })).status).toBe(200);
    }
    limited(await send(on.url, '/test/read', { token }));
    limited(await send(on.url, '/no/such/route', { token }));
    expect((await send(on.url, '/test/read', { token: on.token })).status).toBe(200);
  });

  it('limits callers without a token per address', async () => {
    for (let i = 0; i < 5; i++) expect((await send(on.url, '/test/public')).status).toBe(200);
    limited(await send(on.url, '/test/public'));
    limited(await send(on.url, '/test/read'));
  });

  it('rate-limits wrong tokens, but never a valid one', async () => {
    const statuses: number[] = [];
    for (let i = 0; i < 30; i++) {
      statuses.push((await send(on.url, '/test/read', { token: `a-guess-${i}` })).status);
    }
    expect(new Set(statuses)).toEqual(new Set([401]));
    limited(await send(on.url, '/test/read', { token: 'one-guess-more' }));
    expect((await send(on.url, '/test/read', { token: on.tokens.call })).status).toBe(200);
  });
});

describe('a service without a limit', () => {
  it('still rate-limits wrong tokens', async () => {
    const on = await startApp({ MCP_AGGREGATOR_RATE_LIMIT: '0' }, addRoutes);
    try {
      const guesses = Array.from({ length: 31 }, (_, i) => `a-guess-${i}`);
      const statuses: number[] = [];
      for (const token of guesses) statuses.push((await send(on.url, '/docs', { token })).status);
      expect(statuses.filter((status) => status === 429)).toHaveLength(1);
    } finally {
      await on.close();
    }
  });
});

describe('a service that other machines reach', () => {
  let on: TestApp;
  const host = { host: 'mcp.example.com' };

  beforeAll(async () => {
    on = await startApp(
      {
        MCP_AGGREGATOR_HOST: '0.0.0.0',
        MCP_AGGREGATOR_ALLOWED_HOSTS: 'mcp.example.com',
        MCP_AGGREGATOR_ALLOWED_ORIGINS: 'https://app.example.com',
      },
      addRoutes,
    );
  });

  afterAll(() => on.close());

  it('is reached by its name, and for its health by any address', async () => {
    const status = async (path: string, name: string): Promise<number> =>
      (await send(on.url, path, { token: on.token, headers: { host: name } })).status;
    expect(await status('/test/read', 'mcp.example.com')).toBe(200);
    expect(await status('/test/public', '10.1.2.3:8081')).toBe(200);
    expect(await status('/test/read', '10.1.2.3:8081')).toBe(403);
    expect(await status('/test/public', 'evil.example.com')).toBe(403);
  });

  it('answers preflights of the pages that are allowed, without a token', async () => {
    const preflight = (origin: string): Promise<Answer> =>
      send(on.url, '/test/call', {
        method: 'OPTIONS',
        headers: {
          ...host,
          origin,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'authorization, content-type',
        },
      });
    const allowed = await preflight('https://app.example.com');
    expect(allowed.status).toBe(204);
    expect(allowed.headers).toMatchObject({
      'access-control-allow-origin': 'https://app.example.com',
      'access-control-allow-headers': 'authorization, content-type',
      'access-control-allow-methods': expect.stringContaining('POST'),
    });
    const other = await preflight('https://evil.example.com');
    expect(other.headers['access-control-allow-origin']).toBeUndefined();
  });

  it('lets those pages read its answers, refusals included', async () => {
    const headers = { ...host, origin: 'https://app.example.com' };
    for (const sending of [{ headers, token: on.token }, { headers }]) {
      const answer = await send(on.url, '/test/read', sending);
      expect(answer.headers['access-control-allow-origin']).toBe('https://app.example.com');
      expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
    }
  });
});

describe('a service behind a proxy', () => {
  let on: TestApp;

  beforeAll(async () => {
    on = await startApp({ MCP_AGGREGATOR_TRUST_PROXY: 'true' }, addRoutes);
  });

  afterAll(() => on.close());

  const refusedFrom = async (forwarded: string): Promise<void> => {
    const headers = { 'x-forwarded-for': forwarded };
    expect((await send(on.url, '/test/read', { headers })).status).toBe(401);
  };

  it('uses the address added by the proxy, not one sent by the caller', async () => {
    await refusedFrom('198.51.100.7');
    await refusedFrom('10.9.9.9, 198.51.100.8');
    await refusedFrom(`198.51.100.9, ${'no address '.repeat(20)}`);
    await eventually(async () => {
      const answer = await send(on.url, AUDIT, { token: on.token });
      const { entries } = answer.body as { entries: { ip_address: string }[] };
      const addresses = entries.map((entry) => entry.ip_address);
      expect(addresses).toEqual(['127.0.0.1', '198.51.100.8', '198.51.100.7']);
    });
  });

  it('counts wrong tokens by that address', async () => {
    const guess = async (i: number, address: string): Promise<number> => {
      const headers = { 'x-forwarded-for': `10.0.0.${i}, ${address}` };
      return (await send(on.url, '/test/read', { token: `a-guess-${i}`, headers })).status;
    };
    for (let i = 0; i < 30; i++) expect(await guess(i, `2001:db8::${i}`)).toBe(401);
    expect(await guess(31, '2001:db8::ffff')).toBe(429);
    expect(await guess(31, '2001:db8:0:1::1')).toBe(401);
  });
});

describe('a service that trusts an issuer', () => {
  let issuer: TestIssuer;
  let on: TestApp;

  beforeAll(async () => {
    issuer = await TestIssuer.start();
    on = await startApp(issuer.settings, addRoutes);
  });

  afterAll(async () => {
    await on.close();
    issuer.stop();
  });

  it('accepts its tokens, and names their subject as the caller', async () => {
    const token = await issuer.sign();
    for (let i = 0; i < 3; i++) {
      const answer = await send(on.url, '/test/read', { token });
      expect(answer.body).toEqual({
        caller: {
          name: 'jwt:user@example.com',
          scopes: ['read', 'call'],
          subjects: ['user:user@example.com'],
          subject: 'jwt:https://id.example.com user@example.com',
        },
      });
    }
    expect((await send(on.url, AUDIT, { token })).status).toBe(403);
    expect((await send(on.url, '/test/read', { token: on.token })).status).toBe(200);
  });

  it('keeps a JWT apart from a configured token of the same name, in sessions and the audit log', async () => {
    const jwt = await issuer.sign({ sub: 'admin', scope: 'read call admin' });
    const headers = {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    };
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'test', version: '0' },
    };
    const begin = { jsonrpc: '2.0', id: 1, method: 'initialize', params };
    const opened = await send(on.url, '/mcp', {
      method: 'POST',
      token: on.token,
      headers,
      body: JSON.stringify(begin),
    });
    const session = { ...headers, 'mcp-session-id': opened.headers['mcp-session-id'] ?? '' };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'ping' });
    const ping = { method: 'POST', headers: session, body };
    expect((await send(on.url, '/mcp', { ...ping, token: jwt })).status).toBe(404);
    expect((await send(on.url, '/mcp', { ...ping, token: on.token })).status).toBe(200);

    for (const sub of ['admin', 'system']) {
      const token = await issuer.sign({ sub, scope: 'read' });
      expect((await send(on.url, AUDIT, { token })).status).toBe(403);
    }
    await eventually(async () => {
      const { body: page } = await send(on.url, AUDIT, { token: on.token });
      const { entries } = page as { entries: { event: string; actor: string }[] };
      const refused = entries.filter(({ event }) => event === 'access.refused');
      expect(refused.map(({ actor }) => actor)).toEqual(
        expect.arrayContaining(['jwt:admin', 'jwt:system']),
      );
      expect(refused.map(({ actor }) => actor)).not.toContain('system');
    });
  });

  it('refuses expired tokens, and tokens without a scope of the service', async () => {
    const expired = await issuer.sign({ exp: 1_000 });
    expect((await send(on.url, '/test/read', { token: expired })).status).toBe(401);
    const strange = await issuer.sign({ scope: 'openid' });
    expect((await send(on.url, '/test/read', { token: strange })).status).toBe(403);
  });

  it('names the issuer in its metadata', async () => {
    const refused = await send(on.url, '/test/read');
    const metadata = `${on.url}/.well-known/oauth-protected-resource`;
    expect(refused.headers['www-authenticate']).toBe(
      `Bearer realm="switchboard", scope="read", resource_metadata="${metadata}"`,
    );
    const refusedMcp = await send(on.url, '/mcp/servers/git%22hub?x=1');
    expect(refusedMcp.headers['www-authenticate']).toContain(
      `resource_metadata="${metadata}/mcp/servers/git%22hub"`,
    );
    for (const suffix of [
      '',
      '/mcp',
      '/mcp/search',
      '/mcp/servers/github',
      '/mcp/views/support/search',
    ]) {
      const { pathname } = new URL(`${metadata}${suffix}`);
      expect((await send(on.url, pathname)).body).toEqual({
        resource: `${on.url}${suffix}`,
        resource_name: 'Switchboard',
        authorization_servers: ['https://id.example.com'],
        bearer_methods_supported: ['header'],
        scopes_supported: suffix === '' ? ['read', 'call', 'operate', 'admin'] : ['read', 'call'],
      });
    }
  });

  it('answers 503 while it cannot verify a token, and still accepts verified ones', async () => {
    const known = await issuer.sign({ sub: 'known' });
    expect((await send(on.url, '/test/read', { token: known })).status).toBe(200);
    const other = await TestIssuer.start();
    const unreachable = await startApp(other.settings, addRoutes);
    other.isDown = true;
    issuer.isDown = true;
    try {
      const answer = await send(unreachable.url, '/test/read', { token: await other.sign() });
      expect([answer.status, answer.body]).toEqual([503, refusal('SERVICE_UNAVAILABLE')]);
      expect(answer.headers['retry-after']).toBe('10');
      expect((await send(on.url, '/test/read', { token: known })).status).toBe(200);
      expect((await send(on.url, '/test/read', { token: await issuer.sign() })).status).toBe(200);
    } finally {
      await unreachable.close();
      other.stop();
    }
  });
});

describe('a service with a public address that trusts an issuer', () => {
  const address = 'https://mcp.example.com';
  const metadata = `${address}/.well-known/oauth-protected-resource`;
  let issuer: TestIssuer;
  let on: TestApp;

  beforeAll(async () => {
    issuer = await TestIssuer.start();
    on = await startApp({ ...issuer.settings, MCP_AGGREGATOR_PUBLIC_URL: address }, addRoutes);
  });

  afterAll(async () => {
    await on.close();
    issuer.stop();
  });

  const eras = {
    'with a handshake': { protocol: '2025-11-25', headers: {}, meta: {} },
    stateless: {
      protocol: '2026-07-28',
      headers: { 'mcp-method': 'tools/call', 'mcp-name': 'query' },
      meta: { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } },
    },
  };
  const call = (endpoint: string, token: string, era: keyof typeof eras = 'stateless') => {
    const { protocol, headers, meta } = eras[era];
    const params = { name: 'query', arguments: {}, ...meta };
    return send(on.url, endpoint, {
      method: 'POST',
      token,
      headers: {
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': protocol,
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    });
  };

  it.each(['with a handshake', 'stateless'] as const)(
    'names the scopes that a call needs to clients %s',
    async (era) => {
      const token = await issuer.sign({ scope: 'read' });
      for (const endpoint of ['/mcp', '/mcp/search', '/mcp/views/default']) {
        const answer = await call(endpoint, token, era);
        expect(answer.status).toBe(403);
        expect(answer.headers['www-authenticate']).toBe(
          `Bearer realm="switchboard", error="insufficient_scope", scope="read call", resource_metadata="${metadata}${endpoint}"`,
        );
      }
    },
  );

  it('says so of a REST request, and of events that only administrators see', async () => {
    const token = await issuer.sign({ scope: 'read' });
    for (const path of [AUDIT, '/api/v1/events?topics=audit']) {
      const answer = await send(on.url, path, { token });
      expect(answer.status).toBe(403);
      expect(answer.headers['www-authenticate']).toContain(
        `scope="read call operate admin", resource_metadata="${metadata}"`,
      );
    }
  });

  it('publishes metadata of its public address, whichever address was asked', async () => {
    for (const suffix of ['', '/mcp', '/mcp/views/support']) {
      const answer = await send(on.url, `/.well-known/oauth-protected-resource${suffix}`);
      expect(answer.body).toMatchObject({ resource: `${address}${suffix}` });
    }
  });

  it('accepts a token at the endpoint that is its audience, and one for the whole service anywhere', async () => {
    const bound = await issuer.sign({ scope: 'read', aud: `${address}/mcp/search` });
    const whole = await issuer.sign({ scope: 'read', aud: `${address}/` });
    const foreign = await issuer.sign({ scope: 'read', aud: 'https://other.example.com/mcp' });
    const statuses = async (token: string): Promise<number[]> => {
      const answers = await Promise.all([
        call('/mcp/search', token),
        call('/mcp', token),
        send(on.url, '/test/read', { token }),
      ]);
      return answers.map(({ status }) => status);
    };
    // 403: it was accepted, and lacks the scope for a call.
    expect(await statuses(bound)).toEqual([403, 401, 401]);
    expect(await statuses(whole)).toEqual([403, 403, 200]);
    expect(await statuses(foreign)).toEqual([401, 401, 401]);
  });
});

describe('a route without an access rule', () => {
  it('keeps the service from starting', async () => {
    const start = startApp({}, (app) => {
      app
        .getHttpAdapter()
        .getInstance()
        .get('/forgotten', () => 'everything');
    });
    await expect(start).rejects.toThrow('GET /forgotten has no access rule');
  });
});

describe('a service on its embedded database', () => {
  it('accepts its tokens', async () => {
    const on = await startApp({ DATABASE_URL: '' }, addRoutes);
    try {
      expect((await send(on.url, AUDIT, { token: on.token })).status).toBe(200);
      expect((await send(on.url, AUDIT)).status).toBe(401);
    } finally {
      await on.close();
    }
  });
});
