import { randomBytes } from 'node:crypto';
import { fromCookie, ownPage, toCookie } from './login-attempt.js';

describe(ownPage.name, () => {
  it.each(['/console/servers/github?tab=logs', '/connect/abc', '/oauth/consent/x/ask'])(
    'takes %s, a page of this service',
    (page) => {
      expect(ownPage(page)).toBe(page);
    },
  );

  it.each([
    '/console/../api/v1/aggregator/servers',
    '/console/%2e%2e/api/v1/aggregator/servers',
    '/console/.%2E/login/callback',
    '/connect/x/../../oauth/anything',
    '//evil.example.com/',
    '/console/\\evil.example.com',
    'https://evil.example.com/console/',
    '/api/v1/aggregator/servers',
    7,
    undefined,
  ])('takes the console in the place of %s', (page) => {
    expect(ownPage(page)).toBe('/console/');
  });

  it('takes a page by the path that the browser will open', () => {
    expect(ownPage('/console/a/../b?x=../y')).toBe('/console/b?x=../y');
    expect(ownPage('/console/../connect/abc')).toBe('/connect/abc');
  });
});

describe(fromCookie.name, () => {
  const key = randomBytes(32);
  const attempt = { secret: randomBytes(32).toString('base64url'), to: '/console/tools?x=1' };
  const ends = Date.parse('2026-11-20T12:00:00Z');
  const cookie = toCookie(attempt, ends, key);

  it('gives back the attempt until its time', () => {
    expect(fromCookie(cookie, ends - 1, [key])).toEqual(attempt);
    expect(fromCookie(cookie, ends, [key])).toBeUndefined();
    expect(fromCookie(cookie, ends + 86_400_000, [key])).toBeUndefined();
  });

  it('reads one of the key before, while keys are rotated', () => {
    expect(fromCookie(cookie, 0, [randomBytes(32), key])).toEqual(attempt);
    expect(fromCookie(cookie, 0, [randomBytes(32)])).toBeUndefined();
  });

  it('refuses a cookie of which any character was changed, its time included', () => {
    const later = cookie.replace(ends.toString(36), (ends + 1).toString(36));
    const elsewhere = toCookie({ ...attempt, to: '/console/' }, ends, randomBytes(32));
    for (const changed of [later, elsewhere, `${cookie}A`, cookie.slice(0, -1), '', 'x.y.z.a']) {
      expect(fromCookie(changed, 0, [key])).toBeUndefined();
    }
    for (let at = 0; at < cookie.length; at += 1) {
      const other = cookie[at] === 'a' ? 'b' : 'a';
      const changed = cookie.slice(0, at) + other + cookie.slice(at + 1);
      // The last character has four bits only, and others that stand for the same ones.
      if (at === cookie.length - 1) continue;
      expect(fromCookie(changed, 0, [key])).toBeUndefined();
    }
    expect(fromCookie(undefined, 0, [key])).toBeUndefined();
  });
});
