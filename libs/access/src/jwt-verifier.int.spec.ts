import { Logger } from '@nestjs/common';
import { generateKeyPair, SignJWT } from 'jose';
import { type Clock, parseEnv } from '@app/platform';
import { TestIssuer } from '../../../test/support/issuer.js';
import { JwtRefused, KeysUnavailable } from './access.errors.js';
import { JwtVerifier } from './jwt-verifier.js';

describe(JwtVerifier.name, () => {
  let issuer: TestIssuer;
  let now: Date;
  let verifier: JwtVerifier;

  beforeAll(() => Logger.overrideLogger(false));

  beforeEach(async () => {
    issuer = await TestIssuer.start();
    now = new Date();
    const clock: Pick<Clock, 'now'> = { now: () => now };
    verifier = new JwtVerifier(parseEnv(issuer.settings), clock as Clock);
  });

  afterEach(() => issuer.stop());

  it.each([
    ['scope, as one text', { scope: 'openid call read' }, ['read', 'call']],
    ['scp, as a list', { scope: undefined, scp: ['admin', 'x'] }, ['admin']],
    ['scp, as one text', { scope: undefined, scp: 'read' }, ['read']],
    ['none of ours', { scope: 'openid profile' }, []],
    ['something else', { scope: 7 }, []],
  ])('reads scopes from %s', async (_, claims, scopes) => {
    const principal = { name: 'user@example.com', scopes };
    expect(await verifier.verify(await issuer.sign(claims), 'h')).toEqual(principal);
  });

  it('names a program by its client id', async () => {
    const { name } = await verifier.verify(
      await issuer.sign({ sub: undefined, client_id: 'ci' }),
      'h',
    );
    expect(name).toBe('ci');
  });

  it.each([
    ['another issuer', { iss: 'https://evil.example.com' }],
    ['another audience', { aud: 'other' }],
    ['no audience', { aud: undefined }],
    ['no end', { exp: undefined }],
    ['an end that has passed', { exp: 1_000 }],
    ['a start to come', { nbf: 9_999_999_999 }],
    ['nobody', { sub: undefined }],
    ['a name that no row can hold', { sub: 'a\u0000b' }],
    ['a very long name', { sub: 'x'.repeat(256) }],
  ])('refuses %s', async (_, claims) => {
    await expect(verifier.verify(await issuer.sign(claims), 'h')).rejects.toThrow(JwtRefused);
    expect(verifier.remembered('h')).toBeUndefined();
  });

  it('refuses what the issuer did not sign', async () => {
    const stranger = await generateKeyPair('ES256');
    const forged = await issuer.sign({}, { kid: 'first', pair: stranger });
    await expect(verifier.verify(forged, 'h')).rejects.toThrow(JwtRefused);
    await expect(verifier.verify('a.b.c', 'h')).rejects.toThrow(JwtRefused);
  });

  it('refuses no signature, and a public key used as a shared secret', async () => {
    const part = (value: object): string =>
      Buffer.from(JSON.stringify(value)).toString('base64url');
    const claims = part({ sub: 'x', iss: issuer.name, aud: issuer.audience, exp: 9_999_999_999 });
    await expect(verifier.verify(`${part({ alg: 'none' })}.${claims}.`, 'h')).rejects.toThrow(
      JwtRefused,
    );
    const shared = new SignJWT({
      sub: 'x',
      iss: issuer.name,
      aud: issuer.audience,
      exp: 9_999_999_999,
    })
      .setProtectedHeader({ alg: 'HS256', kid: 'first' })
      .sign(new TextEncoder().encode(JSON.stringify(issuer.keys[0])));
    await expect(verifier.verify(await shared, 'h')).rejects.toThrow(JwtRefused);
  });

  it('remembers a good one until it expires', async () => {
    const principal = await verifier.verify(await issuer.sign(), 'hash');
    expect(verifier.remembered('hash')).toBe(principal);
    expect(verifier.remembered('another')).toBeUndefined();
    now = new Date(now.getTime() + 601_000);
    expect(verifier.remembered('hash')).toBeUndefined();
  });

  it('takes a new key of the issuer', async () => {
    await issuer.addKey('second');
    const jwt = await issuer.sign({}, { kid: 'second' });
    await expect(verifier.verify(jwt, 'h')).resolves.toBeDefined();
  });

  it('goes on with the last keys while the issuer is down, and asks it seldom', async () => {
    await verifier.verify(await issuer.sign(), 'h');
    issuer.isDown = true;
    const systemNow = Date.now;
    const elevenMinutes = 660_000; // jose asks again for keys older than ten
    Date.now = () => systemNow() + elevenMinutes;
    try {
      now = new Date(Date.now());
      for (const hash of ['a', 'b', 'c']) {
        await expect(verifier.verify(await issuer.sign(), hash)).resolves.toBeDefined();
      }
      await issuer.addKey('second');
      const newer = await issuer.sign({}, { kid: 'second' });
      await expect(verifier.verify(newer, 'd')).rejects.toThrow(KeysUnavailable);
    } finally {
      Date.now = systemNow;
    }
    expect(issuer.fetches).toBe(2);
  });

  it('says that it cannot tell when it never had a key, and tries again after a rest', async () => {
    issuer.isDown = true;
    const jwt = await issuer.sign();
    await expect(verifier.verify(jwt, 'h')).rejects.toThrow(KeysUnavailable);
    await expect(verifier.verify(jwt, 'h')).rejects.toThrow(KeysUnavailable);
    expect(issuer.fetches).toBe(1);
    issuer.isDown = false;
    now = new Date(now.getTime() + 10_000);
    await expect(verifier.verify(jwt, 'h')).resolves.toBeDefined();
  });
});
