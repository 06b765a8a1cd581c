import {
  Clock,
  ClusterKeys,
  errorAnswer,
  parseEnv,
  PassMisdirected,
  PassRefused,
  type Passes,
  tokenScopes,
} from '@app/platform';
import { fastify, type FastifyInstance, type InjectOptions } from 'fastify';
import { tokensOn } from '../../../../test/support/tokens.js';
import { JwtRefused } from '../access.errors.js';
import type { RefusalLog } from '../audit/refusal-log.js';
import { CallerTokens } from '../authenticate/caller-tokens.js';
import { Authenticator } from '../authenticate/authenticator.js';
import type { JwtVerifier } from '../authenticate/jwt-verifier.js';
import type { BrowserSessions, LiveSession } from '../browser-sessions/browser-sessions.js';
import { AccessControl } from './access-control.js';
import { Challenges } from './challenges.js';

const READER = 'token-of-a-reader-here';
const ADMIN = 'token-of-operators-here';
const TOKENS = `reader:read:${READER},ops:admin:${ADMIN}`;
const GOOD_JWT = 'good.jwt.signature';

type Jwts = Pick<JwtVerifier, 'isConfigured' | 'remembered' | 'verify'>;
const noJwts: Jwts = {
  isConfigured: false,
  remembered: () => undefined,
  verify: () => Promise.reject(new JwtRefused('no issuer is configured')),
};
const jwts: Jwts = {
  isConfigured: true,
  remembered: () => undefined,
  verify: (token) =>
    token === GOOD_JWT
      ? Promise.resolve({ name: 'jwt:ada', scopes: ['call'], subjects: [] })
      : Promise.reject(new JwtRefused('expired')),
};

/** Of a service that runs alone. */
const noPasses = {
  redeem: () => {
    throw new PassRefused('no other replica is known');
  },
} as unknown as Passes;

describe(AccessControl.name, () => {
  let app: FastifyInstance;
  let refused: unknown[];

  async function start(
    settings: Record<string, string> = {},
    verifier = noJwts,
    passes = noPasses,
    sessions: Pick<BrowserSessions, 'of'> = { of: () => undefined },
  ): Promise<void> {
    const env = parseEnv({ MCP_AGGREGATOR_TOKENS: TOKENS, ...settings });
    const tokens = tokensOn(env);
    const log: Pick<RefusalLog, 'note'> = { note: (refusal) => void refused.push(refusal) };
    const challenges = new Challenges(env, verifier as JwtVerifier);
    const authenticator = new Authenticator(
      tokens,
      verifier as JwtVerifier,
      sessions as BrowserSessions,
      challenges,
      new CallerTokens(new Clock(), new ClusterKeys(env)),
    );
    app = fastify();
    app.setErrorHandler((error, _request, reply) => {
      const { status, body, challenge, retryAfterSeconds } = errorAnswer(error);
      if (challenge) reply.header('www-authenticate', challenge);
      if (retryAfterSeconds) reply.header('retry-after', retryAfterSeconds);
      return reply.status(status).send(body);
    });
    const refusals = log as RefusalLog;
    const control = new AccessControl(env, authenticator, refusals, tokens, passes, challenges);
    await control.install(app);
    for (const access of ['public', ...tokenScopes] as const) {
      app.get(`/${access}`, { config: { access } }, ({ principal }) => principal ?? 'no caller');
    }
    app.get('/file', { config: { access: 'public', isUncounted: true } }, () => 'a file');
    app.get('/mcp/servers/:name', { config: { access: 'call' } }, () => 'ok');
    app.get('/passed', { config: { access: 'call' } }, ({ id, passedBy }) => ({ id, passedBy }));
    app.get('/docs/page', () => 'documentation');
    app.post('/batch', { config: { access: 'read' } }, async (request) => {
      await request.countMore?.(4);
      return 'ok';
    });
  }

  beforeEach(() => {
    refused = [];
  });
  afterEach(() => app.close());

  async function get(url: string, authorization?: string, more: InjectOptions = {}) {
    const headers = { host: '127.0.0.1', ...(authorization && { authorization }), ...more.headers };
    const answer = await app.inject({ method: 'GET', url, ...more, headers });
    return {
      status: answer.statusCode,
      text: answer.body,
      challenge: answer.headers['www-authenticate'],
      retryAfter: answer.headers['retry-after'],
    };
  }
  const statusOf = async (url: string, authorization?: string): Promise<number> =>
    (await get(url, authorization)).status;

  it.each([
    ['/public', 200, 200, 200],
    ['/read', 401, 200, 200],
    ['/call', 401, 403, 200],
    ['/admin', 401, 403, 200],
    ['/nowhere', 401, 404, 404],
  ])(
    'answers %s with %i without a token, %i to a reader, %i to an administrator',
    async (url, ...expected) => {
      await start();
      const statuses = [undefined, `Bearer ${READER}`, `Bearer ${ADMIN}`].map((one) =>
        statusOf(url, one),
      );
      expect(await Promise.all(statuses)).toEqual(expected);
    },
  );

  it('tells the handler who calls, and nothing of a caller of a public route', async () => {
    await start();
    expect(JSON.parse((await get('/read', `Bearer ${READER}`)).text)).toEqual({
      name: 'reader',
      scopes: ['read'],
      subjects: ['token:reader'],
      subject: 'token:reader',
    });
    expect((await get('/public', `Bearer ${READER}`)).text).toBe('no caller');
  });

  it.each([
    [undefined, 'Bearer realm="switchboard", scope="read"', 'This needs a token'],
    [
      'Bearer',
      'Bearer realm="switchboard", error="invalid_request", scope="read"',
      'must read `Bearer <token>`',
    ],
    ['Token abc', 'Bearer realm="switchboard", error="invalid_request", scope="read"', 'must read'],
    [
      `Bearer ${READER} x`,
      'Bearer realm="switchboard", error="invalid_request", scope="read"',
      'must read',
    ],
    [
      `x Bearer ${READER}`,
      'Bearer realm="switchboard", error="invalid_request", scope="read"',
      'must read',
    ],
    [
      'Bearer unknown',
      'Bearer realm="switchboard", error="invalid_token", scope="read"',
      'not known here',
    ],
    [
      'Bearer a.b.c',
      'Bearer realm="switchboard", error="invalid_token", scope="read"',
      'not known here',
    ],
  ])('says to %p what is wrong', async (authorization, challenge, text) => {
    await start();
    const answer = await get('/read', authorization);
    expect(answer).toMatchObject({ status: 401, challenge });
    expect(answer.text).toContain(text);
  });

  it('says which scope a token lacks', async () => {
    await start();
    const answer = await get('/admin', `Bearer ${READER}`);
    expect(answer.challenge).toContain(
      'error="insufficient_scope", scope="read call operate admin"',
    );
  });

  describe('with an issuer of JWTs', () => {
    it('takes a JWT that it confirms, and refuses another', async () => {
      await start({}, jwts);
      expect(JSON.parse((await get('/read', `Bearer ${GOOD_JWT}`)).text)).toMatchObject({
        name: 'jwt:ada',
      });
      expect(await statusOf('/admin', `Bearer ${GOOD_JWT}`)).toBe(403);
      expect(await get('/read', 'Bearer bad.jwt.signature')).toMatchObject({
        status: 401,
        challenge: expect.stringContaining('error="invalid_token"') as string,
      });
    });

    it('does not ask it about a token that is no JWT', async () => {
      const asked: string[] = [];
      const verify = (token: string) => {
        asked.push(token);
        return Promise.reject(new JwtRefused('no'));
      };
      await start({}, { ...jwts, verify });
      for (const token of ['a.b', 'a.b.c.d', 'abc']) {
        expect(await statusOf('/read', `Bearer ${token}`)).toBe(401);
      }
      expect(asked).toEqual([]);
    });

    it('says where a client finds the issuer, for the endpoint that it asked', async () => {
      await start({}, jwts);
      const metadata = 'resource_metadata="http://127.0.0.1/.well-known/oauth-protected-resource';
      expect((await get('/mcp/servers/a')).challenge).toContain(`${metadata}/mcp/servers/a"`);
      expect((await get('/read')).challenge).toContain(`${metadata}"`);
      const lacking = await get('/admin', `Bearer ${GOOD_JWT}`);
      expect(lacking).toMatchObject({ status: 403, challenge: expect.stringContaining(metadata) });
    });

    it('names in every refusal the scopes that the request needs, and the public address', async () => {
      await start({ MCP_AGGREGATOR_PUBLIC_URL: 'https://mcp.example.com' }, jwts);
      const from =
        'resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource';
      const bearer = 'Bearer realm="switchboard"';
      expect((await get('/mcp/servers/a')).challenge).toBe(
        `${bearer}, scope="read call", ${from}/mcp/servers/a"`,
      );
      expect((await get('/nowhere')).challenge).toBe(`${bearer}, scope="read", ${from}"`);
      expect((await get('/admin')).challenge).toBe(
        `${bearer}, scope="read call operate admin", ${from}"`,
      );
      expect((await get('/admin', `Bearer ${GOOD_JWT}`)).challenge).toBe(
        `${bearer}, error="insufficient_scope", scope="read call operate admin", ${from}"`,
      );
    });

    it('passes on that the keys of the issuer cannot be had', async () => {
      await start({}, { ...jwts, verify: () => Promise.reject(new Error('down')) });
      expect(await statusOf('/read', `Bearer ${GOOD_JWT}`)).toBe(500);
      expect(refused).toEqual([]);
    });
  });

  describe('of a browser', () => {
    const session = {
      principal: { name: 'ada', scopes: ['call'], subjects: ['token:ada'] },
    } as unknown as LiveSession;
    const asked: unknown[] = [];
    const sessions = (answer: ReturnType<BrowserSessions['of']>) => ({
      of: ({ method }: { method: string }) => {
        asked.push(method);
        return answer;
      },
    });
    beforeEach(() => void asked.splice(0));

    it.each([
      ['at once', () => session],
      ['after its row was read', () => Promise.resolve(session)],
    ])('takes a session that is found %s', async (_, find) => {
      await start({}, noJwts, noPasses, sessions(find()));
      expect(JSON.parse((await get('/call')).text)).toMatchObject({ name: 'ada' });
      expect(await statusOf('/admin')).toBe(403);
      expect(await statusOf('/nowhere')).toBe(404);
    });

    it('asks for a token when there is no session', async () => {
      await start({}, noJwts, noPasses, sessions(Promise.resolve(undefined)));
      expect(await get('/read')).toMatchObject({
        status: 401,
        challenge: 'Bearer realm="switchboard", scope="read"',
      });
    });

    it('looks for no session on public routes, or beside an Authorization header, right or wrong', async () => {
      await start({}, noJwts, noPasses, sessions(session));
      expect((await get('/public')).text).toBe('no caller');
      expect(await statusOf('/read', `Bearer ${READER}`)).toBe(200);
      expect(await statusOf('/read', 'Bearer wrong')).toBe(401);
      expect(asked).toEqual([]);
    });

    it('does not count ended sessions as wrong tokens', async () => {
      await start({}, noJwts, noPasses, sessions(undefined));
      for (let i = 0; i < 40; i++) expect(await statusOf('/read')).toBe(401);
    });
  });

  describe('of the documentation', () => {
    const basic = (pair: string): string => `Basic ${Buffer.from(pair).toString('base64')}`;

    it('takes the token as the password of any user', async () => {
      await start();
      expect(await statusOf('/docs/page', basic(`anyone:${READER}`))).toBe(200);
      expect(await statusOf('/docs/page', basic(`:${READER}`))).toBe(200);
      expect(await statusOf('/docs/page', `Bearer ${READER}`)).toBe(200);
    });

    it.each([
      basic(READER),
      basic(`anyone:x${READER}`),
      basic('anyone:'),
      `${basic(`anyone:${READER}`)} x`,
      `x ${basic(`anyone:${READER}`)}`,
      undefined,
    ])('lets a browser ask for it after %p', async (authorization) => {
      await start();
      expect(await get('/docs/page', authorization)).toMatchObject({
        status: 401,
        challenge: 'Basic realm="switchboard: any name, the token as password"',
      });
    });

    it('is the only one that takes a password', async () => {
      await start();
      expect(await statusOf('/read', basic(`anyone:${READER}`))).toBe(401);
    });
  });

  it('refuses a route without a rule when it is added', async () => {
    await start();
    expect(() => app.get('/docsother', () => 'x')).toThrow('GET /docsother has no access rule');
  });

  it('asks for a token at the routes that a library adds for preflights', async () => {
    await start();
    app.options('*', () => 'preflight');
    expect(() => app.options('/other', () => 'x')).toThrow('OPTIONS /other has no access rule');
    const preflight = { method: 'OPTIONS' } as const;
    expect((await get('/anything', undefined, preflight)).status).toBe(401);
    expect((await get('/anything', `Bearer ${READER}`, preflight)).status).toBe(200);
  });

  it('refuses a page of another origin', async () => {
    await start();
    const answer = await get('/read', `Bearer ${READER}`, {
      headers: { origin: 'https://evil.example' },
    });
    expect(answer.status).toBe(403);
    expect(answer.text).toContain('Origin');
  });

  it('notes every refusal with who, where from and what for', async () => {
    await start();
    await get('/read');
    await get('/admin', `Bearer ${READER}`);
    await get('/nowhere');
    await get('/public');
    const ip = '127.0.0.1';
    const anonymous = { name: 'anonymous', ip, subject: undefined };
    const reader = { name: 'reader', ip, subject: 'token:reader' };
    expect(refused).toEqual([
      { actor: anonymous, method: 'GET', route: '/read', status: 401 },
      { actor: reader, method: 'GET', route: '/admin', status: 403 },
      { actor: anonymous, method: 'GET', route: '(no such route)', status: 401 },
    ]);
  });

  describe('of a request that another replica passed on', () => {
    const pass = 'Switchboard-Pass of-the-request';
    const redeemed: unknown[] = [];
    const passes = {
      redeem: (...given: unknown[]) => {
        redeemed.push(given);
        if (given[0] === 'of-another-process') throw new PassMisdirected();
        if (given[0] !== 'of-the-request') throw new PassRefused('not proven');
        return {
          principal: { name: 'ada', scopes: ['call'], subjects: [] },
          ip: '203.0.113.7',
          requestId: 'id of the first replica',
        };
      },
    } as unknown as Passes;

    it('takes caller, address and id from its pass, without another check', async () => {
      redeemed.length = 0;
      await start({ MCP_AGGREGATOR_RATE_LIMIT: '1' }, noJwts, passes);
      for (let i = 0; i < 3; i++) {
        const headers = { origin: 'https://was.checked.example' };
        const answer = await get('/passed?a=1', pass, { headers });
        expect([answer.status, JSON.parse(answer.text)]).toEqual([
          200,
          { id: 'id of the first replica', passedBy: { ip: '203.0.113.7' } },
        ]);
      }
      expect(redeemed[0]).toEqual(['of-the-request', 'GET', '/passed?a=1']);
      expect(JSON.parse((await get('/call', pass)).text)).toMatchObject({ name: 'ada' });
    });

    it('checks the scope, and notes the address of the caller', async () => {
      await start({}, noJwts, passes);
      expect(await statusOf('/admin', pass)).toBe(403);
      expect(refused).toMatchObject([{ actor: { name: 'ada', ip: '203.0.113.7' }, status: 403 }]);
    });

    it('says that it was for a process which is gone', async () => {
      await start({}, noJwts, passes);
      const answer = await get('/call', 'Switchboard-Pass of-another-process');
      expect(answer.status).toBe(409);
      expect(answer.text).toContain('REPLICA_GONE');
    });

    it('refuses another pass like a wrong token', async () => {
      await start({}, noJwts, passes);
      for (let i = 0; i < 30; i++) {
        const answer = await get('/call', 'Switchboard-Pass invented');
        expect(answer.status).toBe(401);
        expect(answer.challenge).toContain('error="invalid_token"');
      }
      expect(await statusOf('/call', 'Switchboard-Pass invented')).toBe(429);
      expect(await statusOf('/call', pass)).toBe(200);
    });
  });

  it.each([
    ['0', 'without a rate limit'],
    ['1000', 'with a rate limit'],
  ])('answers every request of a caller that has to wait for its turn (%s, %s)', async (limit) => {
    await start({ MCP_AGGREGATOR_RATE_LIMIT: limit });
    await get('/read', `Bearer ${ADMIN}`);
    const answers = Array.from({ length: 30 }, () => statusOf('/read', `Bearer ${READER}`));
    expect(new Set(await Promise.all(answers))).toEqual(new Set([200]));
  });

  describe('in one minute', () => {
    it('takes 30 wrong tokens of an address, and right ones of it anyway', async () => {
      await start();
      for (let i = 0; i < 30; i++) expect(await statusOf('/read', `Bearer wrong-${i}`)).toBe(401);
      const answer = await get('/read', 'Bearer wrong');
      expect(answer.status).toBe(429);
      expect(Number(answer.retryAfter)).toBeGreaterThan(0);
      expect(refused.at(-1)).toMatchObject({ route: '/read', status: 429 });
      expect(await statusOf('/read', `Bearer ${READER}`)).toBe(200);
    });

    it('takes as many requests of each caller as the settings say', async () => {
      await start({ MCP_AGGREGATOR_RATE_LIMIT: '3' });
      for (let i = 0; i < 3; i++) expect(await statusOf('/read', `Bearer ${READER}`)).toBe(200);
      expect(await statusOf('/read', `Bearer ${READER}`)).toBe(429);
      expect(await statusOf('/read', `Bearer ${ADMIN}`)).toBe(200);
      for (let i = 0; i < 3; i++) expect(await statusOf('/public')).toBe(200);
      expect(await statusOf('/public')).toBe(429);
    });

    it('takes any number of requests of files, also from a caller who may send no more', async () => {
      await start({ MCP_AGGREGATOR_RATE_LIMIT: '1' });
      for (let i = 0; i < 5; i++) expect(await statusOf('/file')).toBe(200);
      expect([await statusOf('/public'), await statusOf('/public')]).toEqual([200, 429]);
      expect(await statusOf('/file')).toBe(200);
    });

    it('counts the further calls of a request', async () => {
      await start({ MCP_AGGREGATOR_RATE_LIMIT: '9' });
      const post = { method: 'POST' } as const;
      expect((await get('/batch', `Bearer ${READER}`, post)).status).toBe(200);
      expect((await get('/batch', `Bearer ${READER}`, post)).status).toBe(429);
    });

    it('takes any number without such a setting', async () => {
      await start({ MCP_AGGREGATOR_RATE_LIMIT: '0' });
      for (let i = 0; i < 50; i++) {
        expect((await get('/batch', `Bearer ${READER}`, { method: 'POST' })).status).toBe(200);
      }
    });
  });
});
