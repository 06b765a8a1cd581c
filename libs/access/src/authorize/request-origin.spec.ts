import { ForeignRequest } from '../access.errors.js';
import { originRules, refuseForeign, type RequestOrigin } from './request-origin.js';

const isRefused = (
  env: { host?: string; hosts?: string[]; origins?: string[] },
  request: Partial<RequestOrigin>,
): boolean => {
  const host = request.host ?? 'localhost:8081';
  try {
    refuseForeign(
      { host, forwardedHost: host, origin: undefined, isPublicRoute: false, ...request },
      originRules({
        MCP_AGGREGATOR_HOST: env.host ?? '127.0.0.1',
        MCP_AGGREGATOR_ALLOWED_HOSTS: env.hosts ?? [],
        MCP_AGGREGATOR_ALLOWED_ORIGINS: env.origins ?? [],
      }),
    );
    return false;
  } catch (error) {
    expect(error).toBeInstanceOf(ForeignRequest);
    return true;
  }
};

describe('the Host header', () => {
  it.each(['localhost', 'LOCALHOST:1', '127.0.0.1:8081', '127.9.9.9', '[::1]', '[::1]:8081'])(
    'may be %s on loopback',
    (host) => expect(isRefused({}, { host })).toBe(false),
  );

  it.each(['evil.com', 'localhost.evil.com', 'evil.com:8081', '10.0.0.1', '127.0.0.1.nip.io', ''])(
    'may not be %j on loopback',
    (host) => expect(isRefused({}, { host })).toBe(true),
  );

  it('may be missing only if any host is allowed', () => {
    const missing = { host: undefined, forwardedHost: '' };
    expect(isRefused({}, missing)).toBe(true);
    expect(isRefused({ host: '0.0.0.0' }, missing)).toBe(false);
  });

  it('may be an allowed host, with or without its port', () => {
    const env = { hosts: ['MCP.example.com', 'other.example.com:444'] };
    expect(isRefused(env, { host: 'mcp.example.com' })).toBe(false);
    expect(isRefused(env, { host: 'mcp.Example.com:8081' })).toBe(false);
    expect(isRefused(env, { host: 'other.example.com:444' })).toBe(false);
    expect(isRefused(env, { host: 'other.example.com:445' })).toBe(true);
  });

  it('may be any if the service is not on loopback and no hosts are configured', () => {
    expect(isRefused({ host: '0.0.0.0' }, { host: 'whatever.example.com' })).toBe(false);
  });

  it('may be an IP address for health probes, as Kubernetes sends them', () => {
    const env = { host: '0.0.0.0', hosts: ['mcp.example.com'] };
    for (const host of ['10.1.2.3:8081', '[fd00::1]:8081']) {
      expect(isRefused(env, { host, isPublicRoute: true })).toBe(false);
      expect(isRefused(env, { host })).toBe(true);
    }
    expect(isRefused(env, { host: 'evil.com', isPublicRoute: true })).toBe(true);
    expect(isRefused({}, { host: '10.1.2.3', isPublicRoute: true })).toBe(true);
  });
});

describe('the Origin header', () => {
  const origins = ['https://App.example.com/'];

  it.each([
    ['http://localhost:8081', 'localhost:8081'],
    ['https://localhost', 'localhost'],
    ['https://app.example.com', 'localhost:8081'],
  ])('may be %s at %s', (origin, host) => {
    expect(isRefused({ origins }, { origin, host })).toBe(false);
  });

  it.each([
    'http://localhost:3000',
    'http://evil.com',
    'https://app.example.com.evil.com',
    'http://app.example.com',
    'null',
    '',
  ])('may not be %j', (origin) => expect(isRefused({ origins }, { origin })).toBe(true));

  it('is compared with the host that a trusted proxy forwards', () => {
    const env = { host: '0.0.0.0' };
    const proxied = { host: 'pod-7', forwardedHost: 'mcp.example.com' };
    expect(isRefused(env, { ...proxied, origin: 'https://mcp.example.com' })).toBe(false);
    expect(isRefused(env, { ...proxied, origin: 'https://pod-7' })).toBe(true);
  });
});
