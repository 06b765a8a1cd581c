import { Logger } from '@nestjs/common';
import { generateKeyPair, SignJWT } from 'jose';
import { type Clock, Egress, LOCAL_EGRESS, parseEnv } from '@app/platform';
import { TestIssuer } from '../../../../test/support/issuer.js';
import { JwtRefused, KeysUnavailable } from '../access.errors.js';
import { JwtVerifier } from './jwt-verifier.js';

describe(JwtVerifier.name, () => {
  let issuer: TestIssuer;
  let now: Date;
  let verifier: JwtVerifier;
  const clock: Pick<Clock, 'now' | 'monotonic'> = {
    now: () => now,
    monotonic: () => now.getTime(),
  };

  beforeAll(() => Logger.overrideLogger(false));

  beforeEach(async () => {
    issuer = await TestIssuer.start();
    now = new Date();
    verifier = new JwtVerifier(parseEnv(issuer.settings), clock as Clock, new Egress());
  });

  afterEach(() => issuer.stop());

  it('accepts a token for an endpoint of the public address at that endpoint only', async () => {
    const publicUrl = 'https://mcp.example.com';
    const env = parseEnv({ ...issuer.settings, MCP_AGGREGATOR_PUBLIC_URL: publicUrl });
    const own = new JwtVerifier(env, clock as Clock, new Egress());
    const bound = await issuer.sign({ aud: `${publicUrl}/mcp` });
    await expect(own.verify(bound, 'bound', '/mcp?x=1')).resolves.toBeDefined();
    expect(own.remembered('bound', '/mcp')).toBeDefined();
    for (const url of ['/mcp/search', '/api/v1/aggregator/tools']) {
      expect(own.remembered('bound', url)).toBeUndefined();
      await expect(own.verify(bound, 'bound', url)).rejects.toThrow(JwtRefused);
    }
    for (const aud of [publicUrl, `${publicUrl}/`, issuer.audience]) {
      const everywhere = await issuer.sign({ aud });
      await expect(own.verify(everywhere, aud, '/api/v1/aggregator/tools')).resolves.toBeDefined();
    }
    const foreign = await issuer.sign({ aud: 'https://other.example.com/mcp' });
    await expect(own.verify(foreign, 'foreign', '/mcp')).rejects.toThrow(JwtRefused);
    await expect(verifier.verify(bound, 'bound', '/mcp')).rejects.toThrow(JwtRefused);
  });

  it.each([
    ['scope, as one text', { scope: 'openid call read' }, ['read', 'call']],
    ['scp, as a list', { scope: undefined, scp: ['admin', 'x'] }, ['admin']],
    ['scope, for daily work', { scope: 'operate operator' }, ['operate']],
    ['scp, as one text', { scope: undefined, scp: 'read' }, ['read']],
    ['no scope of the service', { scope: 'openid profile' }, []],
    ['something else', { scope: 7 }, []],
  ])('reads scopes from %s', async (_, claims, scopes) => {
    const principal = {
      name: 'jwt:user@example.com',
      scopes,
      subjects: ['user:user@example.com'],
      subject: 'jwt:https://id.example.com user@example.com',
    };
    expect(await verifier.verify(await issuer.sign(claims), 'h', '/mcp')).toEqual(principal);
  });

  it('reads roles from the claim that the settings name, beside the scopes', async () => {
    const verified = async (roles: string | undefined, claims: object) => {
      const more = roles === undefined ? {} : { MCP_AGGREGATOR_JWT_ROLES_CLAIM: roles };
      const env = parseEnv({ ...issuer.settings, ...more });
      const { scopes } = await new JwtVerifier(env, clock as Clock, new Egress()).verify(
        await issuer.sign({ scope: 'read', ...claims }),
        'h',
        '/mcp',
      );
      return scopes;
    };
    expect(await verified('roles', { roles: ['operator', 'of something else'] })).toEqual([
      'read',
      'operate',
    ]);
    expect(await verified('app_role', { app_role: 'admin' })).toEqual(['read', 'admin']);
    expect(await verified('roles', { roles: ['operate'] })).toEqual(['read']);
    expect(await verified('roles', {})).toEqual(['read']);
    expect(await verified(undefined, { roles: ['admin'] })).toEqual(['read']);
  });

  it.each(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES384', 'ES512', 'EdDSA'])(
    'verifies signatures with %s',
    async (alg) => {
      await issuer.addKey('other', alg);
      const token = await issuer.sign({}, { kid: 'other' });
      await expect(verifier.verify(token, 'h', '/mcp')).resolves.toMatchObject({
        name: 'jwt:user@example.com',
      });
    },
  );

  it('is configured only with a URL, an issuer and an audience', () => {
    const { MCP_AGGREGATOR_JWKS_URL: url, ...others } = parseEnv(issuer.settings);
    const configured = (env: object): boolean =>
      new JwtVerifier(env as never, clock as Clock, new Egress()).isConfigured;
    expect(configured({ MCP_AGGREGATOR_JWKS_URL: url, ...others })).toBe(true);
    expect(configured(others)).toBe(false);
    for (const missing of ['ISSUER', 'AUDIENCE']) {
      const env = { MCP_AGGREGATOR_JWKS_URL: url, ...others };
      expect(configured({ ...env, [`MCP_AGGREGATOR_JWT_${missing}`]: undefined })).toBe(false);
    }
  });

  it('names a client without a subject by its client id', async () => {
    const { name } = await verifier.verify(
      await issuer.sign({ sub: undefined, client_id: 'ci' }),
      'h',
      '/mcp',
    );
    expect(name).toBe('jwt-client:ci');
  });

  it.each(['alice', 'system', 'anonymous', 'jwt-client:ci', 'jwt:bob'])(
    'gives the subject %s a name that no token and no program has',
    async (sub) => {
      const own = await verifier.verify(await issuer.sign({ sub }), 'a', '/mcp');
      const program = await verifier.verify(
        await issuer.sign({ sub: undefined, client_id: sub }),
        'b',
        '/mcp',
      );
      expect(own.name).toBe(`jwt:${sub}`);
      expect(new Set([sub, own.name, program.name]).size).toBe(3);
    },
  );

  it.each([
    ['another issuer', { iss: 'https://evil.example.com' }],
    ['another audience', { aud: 'other' }],
    ['no audience', { aud: undefined }],
    ['no expiry', { exp: undefined }],
    ['an expiry in the past', { exp: 1_000 }],
    ['a start in the future', { nbf: 9_999_999_999 }],
    ['no subject', { sub: undefined }],
    ['a name that cannot be stored', { sub: 'a\u0000b' }],
    ['a very long name', { sub: 'x'.repeat(252) }],
    ['a name that reads as another', { sub: 'admin\u202e' }],
    ['a name that is not valid text', { sub: 'a\ud800' }],
    ['an empty name', { sub: '' }],
  ])('refuses %s', async (_, claims) => {
    await expect(verifier.verify(await issuer.sign(claims), 'h', '/mcp')).rejects.toThrow(
      JwtRefused,
    );
    expect(verifier.remembered('h', '/mcp')).toBeUndefined();
  });

  it('refuses a token that the issuer did not sign', async () => {
    const stranger = await generateKeyPair('ES256');
    const forged = await issuer.sign({}, { kid: 'first', pair: stranger });
    await expect(verifier.verify(forged, 'h', '/mcp')).rejects.toThrow(JwtRefused);
    await expect(verifier.verify('a.b.c', 'h', '/mcp')).rejects.toThrow(JwtRefused);
  });

  it('refuses unsigned tokens and a public key used as HMAC secret', async () => {
    const part = (value: object): string =>
      Buffer.from(JSON.stringify(value)).toString('base64url');
    const claims = part({ sub: 'x', iss: issuer.name, aud: issuer.audience, exp: 9_999_999_999 });
    await expect(
      verifier.verify(`${part({ alg: 'none' })}.${claims}.`, 'h', '/mcp'),
    ).rejects.toThrow(JwtRefused);
    const shared = new SignJWT({
      sub: 'x',
      iss: issuer.name,
      aud: issuer.audience,
      exp: 9_999_999_999,
    })
      .setProtectedHeader({ alg: 'HS256', kid: 'first' })
      .sign(new TextEncoder().encode(JSON.stringify(issuer.keys[0])));
    await expect(verifier.verify(await shared, 'h', '/mcp')).rejects.toThrow(JwtRefused);
  });

  it('fetches keys only from addresses that the egress policy allows', async () => {
    const egress = new Egress(LOCAL_EGRESS, (_name, done) =>
      done(null, [{ address: '169.254.169.254', family: 4 }]),
    );
    const url = issuer.settings['MCP_AGGREGATOR_JWKS_URL']?.replace('127.0.0.1', 'keys.localhost');
    const env = { ...issuer.settings, MCP_AGGREGATOR_ALLOW_INSECURE_HTTP: 'true' };
    const moved = parseEnv({ ...env, MCP_AGGREGATOR_JWKS_URL: url });
    const guarded = new JwtVerifier(moved, clock as Clock, egress);
    await expect(guarded.verify(await issuer.sign(), 'h', '/mcp')).rejects.toThrow(KeysUnavailable);
    expect(issuer.fetches).toBe(0);
  });

  it('limits the size of the keys', async () => {
    issuer.padding = ' '.repeat(2_000_000);
    await expect(verifier.verify(await issuer.sign(), 'h', '/mcp')).rejects.toThrow(
      KeysUnavailable,
    );
  });

  it('caches a verified token until it expires', async () => {
    const principal = await verifier.verify(await issuer.sign(), 'hash', '/mcp');
    expect(verifier.remembered('hash', '/mcp')).toBe(principal);
    expect(verifier.remembered('another', '/mcp')).toBeUndefined();
    now = new Date(now.getTime() + 601_000);
    expect(verifier.remembered('hash', '/mcp')).toBeUndefined();
  });

  it('accepts a new key of the issuer', async () => {
    await issuer.addKey('second');
    const jwt = await issuer.sign({}, { kid: 'second' });
    await expect(verifier.verify(jwt, 'h', '/mcp')).resolves.toBeDefined();
  });

  it('uses the last keys while the issuer is down, and retries after a pause', async () => {
    await verifier.verify(await issuer.sign(), 'h', '/mcp');
    issuer.isDown = true;
    const systemNow = Date.now;
    const elevenMinutes = 660_000; // jose asks again for keys older than ten
    Date.now = () => systemNow() + elevenMinutes;
    try {
      now = new Date(Date.now());
      for (const hash of ['a', 'b', 'c']) {
        await expect(verifier.verify(await issuer.sign(), hash, '/mcp')).resolves.toBeDefined();
      }
      await issuer.addKey('second');
      const newer = await issuer.sign({}, { kid: 'second' });
      await expect(verifier.verify(newer, 'd', '/mcp')).rejects.toThrow(KeysUnavailable);
    } finally {
      Date.now = systemNow;
    }
    expect(issuer.fetches).toBe(2);
  });

  it('answers 503 when it never had a key, and retries after a pause', async () => {
    issuer.isDown = true;
    const jwt = await issuer.sign();
    await expect(verifier.verify(jwt, 'h', '/mcp')).rejects.toThrow(KeysUnavailable);
    await expect(verifier.verify(jwt, 'h', '/mcp')).rejects.toThrow(KeysUnavailable);
    expect(issuer.fetches).toBe(1);
    issuer.isDown = false;
    now = new Date(now.getTime() + 10_000);
    await expect(verifier.verify(jwt, 'h', '/mcp')).resolves.toBeDefined();
  });
});
