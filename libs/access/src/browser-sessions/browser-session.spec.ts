import {
  clearedCookie,
  cookieName,
  secureHostOf,
  newSessionId,
  sessionCookie,
  sessionIdIn,
} from './browser-session.js';

describe('the cookie of a browser session', () => {
  const host = '127.0.0.1:8081';
  const id = newSessionId();

  it('has the port in its name, because cookies are sent to every port of a host', () => {
    expect(cookieName('127.0.0.1:8081')).toBe('switchboard_session_8081');
    expect(cookieName('[::1]:8082')).toBe('switchboard_session_8082');
    expect(cookieName('switchboard.example.com')).toBe('switchboard_session');
    expect(cookieName('[::1]')).toBe('switchboard_session');
  });

  it('can be set by no other host of the domain, at the public address with TLS', () => {
    const secureHost = secureHostOf({ MCP_AGGREGATOR_PUBLIC_URL: 'https://mcp.example.com' });
    const at = { host: 'mcp.example.com', isTls: false, secureHost };
    const cookie = sessionCookie(id, at);
    expect(cookie).toMatch(/^__Host-switchboard_session=.*; Path=\/;.*; Secure$/);
    expect(cookie).not.toContain('Domain');
    const given = cookie.split(';')[0] ?? '';
    expect(sessionIdIn(given, at.host, secureHost)).toBe(id);
    expect(sessionIdIn(`switchboard_session=${id}`, at.host, secureHost)).toBeUndefined();
    expect(cookieName('127.0.0.1:8081', secureHost)).toBe('switchboard_session_8081');
    expect(secureHostOf({ MCP_AGGREGATOR_PUBLIC_URL: 'http://mcp.example.com' })).toBeUndefined();
  });

  it('is found among others, and not under the name of another port', () => {
    const cookies = `theme=dark; switchboard_session_9=x;switchboard_session_8081=${id}; a=b`;
    expect(sessionIdIn(cookies, host)).toBe(id);
    expect(sessionIdIn(cookies, '127.0.0.1:8082')).toBeUndefined();
    expect(sessionIdIn(cookies, '127.0.0.1')).toBeUndefined();
  });

  it.each(['', 'short', `${'a'.repeat(43)}=`, 'ä'.repeat(43), 'a'.repeat(44)])(
    'is ignored with the value %j',
    (value) => {
      expect(sessionIdIn(`switchboard_session_8081=${value}`, host)).toBeUndefined();
    },
  );

  it('is kept from scripts, other sites and, with TLS, from plain connections', () => {
    expect(sessionCookie(id, { host, isTls: false })).toBe(
      `switchboard_session_8081=${id}; Path=/; Max-Age=604800; HttpOnly; SameSite=Strict`,
    );
    expect(sessionCookie(id, { host: 'example.com', isTls: true })).toBe(
      `switchboard_session=${id}; Path=/; Max-Age=604800; HttpOnly; SameSite=Strict; Secure`,
    );
    expect(clearedCookie({ host, isTls: false })).toMatch(
      /^switchboard_session_8081=; Path=\/; Max-Age=0;/,
    );
  });
});
