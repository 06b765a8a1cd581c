import { Pool } from 'undici';

/** Calls to one server at the same time; more wait for a free connection. */
const MAX_CONNECTIONS = 256;

/** Keep-alive connections to one origin. Deadlines are those of the requests, so the pool has none but for connecting. */
export function httpPool(url: URL, connectTimeoutMs: number): Pool {
  return new Pool(url.origin, {
    connections: MAX_CONNECTIONS,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: connectTimeoutMs, minVersion: 'TLSv1.2' },
  });
}

/** Headers that belong to the connection or the protocol, not to whoever registered the server. */
const RESERVED =
  /^(host|connection|content-length|content-type|transfer-encoding|accept|accept-encoding|mcp-.*)$/;

export function ownHeaders(configured: Readonly<Record<string, string>>): Record<string, string> {
  const own = Object.entries(configured)
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name]) => !RESERVED.test(name));
  // Compressed bytes could not be counted as what they become.
  return { 'user-agent': 'switchboard', ...Object.fromEntries(own), 'accept-encoding': 'identity' };
}
