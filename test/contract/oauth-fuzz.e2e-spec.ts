import fc from 'fast-check';
import { startApp, type TestApp } from '../support/app.js';
import { type Answer, send as sendTo } from '../support/http.js';
import {
  at,
  form,
  oauthSettings,
  PUBLIC_URL,
  TestBrowser,
  TestClient,
  type Tokens,
} from '../support/oauth-clients.js';

/** `OAUTH_FUZZ=100000` for more. */
const REQUESTS = Number(process.env['OAUTH_FUZZ'] ?? 600);
const REDIRECT = 'https://claude.ai/api/mcp/auth_callback';

/** Values that are almost right, and any others. */
const near = (...good: string[]) =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...good) },
    { weight: 1, arbitrary: fc.constantFrom('', ' ', '%00', '\u0000', '\r\nx: y', '../..', '{}') },
    { weight: 1, arbitrary: fc.constantFrom(...good).map((one) => `${one}/../x`) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 300 }) },
  );

const redirects = near(
  REDIRECT,
  'https://evil.example.com/cb',
  'https://claude.ai.evil.example.com/api/mcp/auth_callback',
  'https://claude.ai@evil.example.com/api/mcp/auth_callback',
  `${REDIRECT}?x=1`,
  `${REDIRECT}#x`,
  'javascript:alert(1)',
  'data:text/html,x',
  '//evil.example.com',
  'http://localhost:1/cb',
);
const pairs = (fields: Record<string, fc.Arbitrary<string>>) =>
  fc.record(fields, { requiredKeys: [] }).chain((given) => {
    const entries = Object.entries(given);
    // A parameter may be sent twice.
    return fc.subarray(entries, { maxLength: 1 }).map((again) => [...entries, ...again]);
  });

interface Sent {
  readonly path: string;
  readonly answer: Answer;
}

describe('generated OAuth requests', () => {
  let service: TestApp;
  let clientId: string;
  const secrets: string[] = [];

  beforeAll(async () => {
    service = await startApp({
      ...oauthSettings,
      MCP_AGGREGATOR_TRUST_PROXY: 'true',
      MCP_AGGREGATOR_RATE_LIMIT: '0',
    });
    const registration = { client_name: 'Claude', redirect_uris: [REDIRECT] };
    const body = JSON.stringify(registration);
    const { body: client } = await at(service, '/register', { method: 'POST', body });
    clientId = (client as { client_id: string }).client_id;
    const one = new TestClient(service, { clientId, redirectUri: REDIRECT });
    const browser = new TestBrowser(service);
    await browser.open(one.authorizeUrl());
    await browser.logIn(service.tokens.call);
    const back = (await browser.allow()) ?? '';
    const tokens = (await one.redeem(back)).body as Tokens;
    secrets.push(new URL(back).searchParams.get('code') ?? '');
    secrets.push(tokens.access_token, tokens.refresh_token);
  });
  afterAll(() => service.close());

  let from = 0;
  /** Each of another address, as limits by address are not what is tested. */
  const headers = () => {
    from += 1;
    return { 'x-forwarded-for': `10.${from >> 16}.${(from >> 8) & 255}.${from & 255}` };
  };

  const authorize = pairs({
    response_type: near('code', 'token', 'id_token', 'none', 'code token'),
    client_id: near(clientIdOf(), 'https://localhost:1/x', 'https://169.254.169.254/x', 'x'),
    redirect_uri: redirects,
    scope: near('read call', 'read', 'admin', 'openid offline_access'),
    state: near('abc'),
    code_challenge: near('E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'),
    code_challenge_method: near('S256', 'plain'),
    resource: near(`${PUBLIC_URL}/mcp`, PUBLIC_URL, 'https://other.example.com', 'urn:x'),
    prompt: near('none', 'login', 'consent', 'select_account'),
    response_mode: near('query', 'fragment', 'form_post', 'web_message', 'jwt'),
    request: near('eyJ.eyJ.x'),
    request_uri: near('https://evil.example.com/r'),
    claims: near('{}'),
    nonce: near('n'),
  }).map((fields) => ({ kind: 'authorize' as const, fields }));
  const token = pairs({
    grant_type: near('authorization_code', 'refresh_token', 'client_credentials', 'implicit'),
    client_id: near(clientIdOf(), 'x'),
    code: near('x'.repeat(43)),
    redirect_uri: redirects,
    code_verifier: near('v'.repeat(43)),
    refresh_token: near('r'.repeat(43)),
    resource: near(`${PUBLIC_URL}/mcp`, 'https://other.example.com'),
    scope: near('read', 'admin'),
    client_secret: near('s'),
    client_assertion: near('eyJ.eyJ.x'),
    client_assertion_type: near('urn:ietf:params:oauth:client-assertion-type:jwt-bearer'),
  }).map((fields) => ({ kind: 'token' as const, fields }));
  const register = fc
    .oneof(
      fc.record(
        {
          redirect_uris: fc.oneof(
            fc.array(redirects, { maxLength: 4 }),
            fc.jsonValue({ maxDepth: 2 }),
          ),
          client_name: fc.oneof(near('x', '<script>'), fc.jsonValue({ maxDepth: 2 })),
          scope: fc.oneof(near('read', 'unknown'), fc.jsonValue({ maxDepth: 1 })),
          grant_types: fc.jsonValue({ maxDepth: 2 }),
          token_endpoint_auth_method: near('none', 'client_secret_basic', 'private_key_jwt'),
          jwks: fc.jsonValue({ maxDepth: 2 }),
          application_type: near('web', 'native'),
        },
        { requiredKeys: [] },
      ),
      fc.jsonValue({ maxDepth: 3 }),
    )
    .map((body) => ({ kind: 'register' as const, body }));
  const paths = near(
    '/oauth-authorization-server',
    '/openid-configuration',
    '/oauth-protected-resource',
  ).map((path) => ({ kind: 'metadata' as const, path: `/.well-known${encodeURI(path)}` }));
  const consent = fc
    .tuple(
      near('x'.repeat(43)),
      fc.constantFrom('', '/ask', '/login', '/decide'),
      near('allow', 'deny'),
    )
    .map(([uid, action, decision]) => ({ kind: 'consent' as const, uid, action, decision }));
  const requests = fc.oneof(
    { weight: 4, arbitrary: authorize },
    { weight: 4, arbitrary: token },
    { weight: 2, arbitrary: register },
    { weight: 1, arbitrary: paths },
    { weight: 1, arbitrary: consent },
  );

  /** The client is known only when the service runs. */
  function clientIdOf(): string {
    return 'CLIENT';
  }

  const send = async (
    request: typeof requests extends fc.Arbitrary<infer R> ? R : never,
  ): Promise<Sent> => {
    switch (request.kind) {
      case 'authorize': {
        const query = new URLSearchParams(request.fields.map(named)).toString();
        const path = `/authorize?${query}`;
        return { path, answer: await at(service, path, { headers: headers() }) };
      }
      case 'token': {
        const body = new URLSearchParams(request.fields.map(named)).toString();
        const type = { 'content-type': 'application/x-www-form-urlencoded' };
        const sending = { method: 'POST', body, headers: { ...type, ...headers() } };
        return { path: '/token', answer: await at(service, '/token', sending) };
      }
      case 'register': {
        const body = JSON.stringify(request.body);
        const sending = { method: 'POST', body, headers: headers() };
        return { path: '/register', answer: await at(service, '/register', sending) };
      }
      case 'metadata':
        return {
          path: request.path,
          answer: await at(service, request.path, { headers: headers() }),
        };
      case 'consent': {
        const path = `/oauth/consent/${encodeURIComponent(request.uid)}${request.action}`;
        if (request.action === '' || request.action === '/ask') {
          return { path, answer: await at(service, path, { headers: headers() }) };
        }
        const fields = { decision: request.decision, credential: request.uid };
        const more = { origin: PUBLIC_URL, ...headers() };
        return { path, answer: await form(service, path, fields, more) };
      }
    }
  };
  const named = ([name, value]: [string, string | undefined]): [string, string] => [
    name,
    value === 'CLIENT' ? clientId : (value ?? ''),
  ];

  it(`are answered without a fault, a foreign redirect or a secret: ${REQUESTS}`, async () => {
    const seen = { fault: [] as string[], redirect: [] as string[], secret: [] as string[] };
    const look = (path: string, { status, headers: answered, text }: Answer): void => {
      const isFull = status === 503 && text.includes('temporarily_unavailable');
      if (status >= 500 && !isFull) seen.fault.push(`${status} ${path} ${text}`);
      const { location: to } = answered;
      if (to !== undefined && !isKnownTarget(to)) seen.redirect.push(`${path} → ${to}`);
      const all = JSON.stringify([answered, text]);
      if (secrets.some((secret) => all.includes(secret))) seen.secret.push(path);
    };
    await fc.assert(
      fc.asyncProperty(fc.array(requests, { minLength: 20, maxLength: 20 }), async (batch) => {
        const sent = await Promise.all(batch.map(send));
        for (const { path, answer } of sent) look(path, answer);
        expect(seen).toEqual({ fault: [], redirect: [], secret: [] });
      }),
      { numRuns: Math.ceil(REQUESTS / 20), endOnFailure: true },
    );
    const audit = await sendTo(service.url, '/api/v1/aggregator/audit?limit=500', {
      token: service.token,
    });
    expect(secrets.filter((secret) => audit.text.includes(secret))).toEqual([]);
  }, 3_600_000);
});

/** The service itself, or the address that the client registered. */
function isKnownTarget(location: string): boolean {
  const { origin, pathname, username } = new URL(location, PUBLIC_URL);
  const isRegistered = origin === 'https://claude.ai' && pathname === '/api/mcp/auth_callback';
  return (origin === PUBLIC_URL || isRegistered) && username === '';
}
