import { isIP } from 'node:net';
import { type Env, isLoopbackHost } from '@app/platform';
import { ForeignRequest } from '../access.errors.js';

export interface OriginRules {
  /** The service listens on loopback only, so any other host name is foreign. */
  readonly loopbackOnly: boolean;
  readonly hosts: ReadonlySet<string>;
  readonly origins: ReadonlySet<string>;
}

export interface RequestOrigin {
  /** The Host header as received. */
  readonly host: string | undefined;
  /** The host as the client sent it, from a trusted proxy's header if there is one. */
  readonly forwardedHost: string;
  readonly origin: string | undefined;
  readonly isPublicRoute: boolean;
}

export function originRules(
  env: Pick<
    Env,
    'MCP_AGGREGATOR_HOST' | 'MCP_AGGREGATOR_ALLOWED_HOSTS' | 'MCP_AGGREGATOR_ALLOWED_ORIGINS'
  >,
): OriginRules {
  return {
    loopbackOnly: isLoopbackHost(env.MCP_AGGREGATOR_HOST),
    hosts: new Set(env.MCP_AGGREGATOR_ALLOWED_HOSTS.map((host) => host.toLowerCase())),
    origins: new Set(env.MCP_AGGREGATOR_ALLOWED_ORIGINS.map(normalOrigin)),
  };
}

/** As browsers send it: lower case, without a trailing slash. */
export function normalOrigin(origin: string): string {
  return origin.toLowerCase().replace(/\/$/, '');
}

/**
 * Keeps web pages from using this service through a visitor's browser, either cross-origin or with a host
 * name rebound to this address (DNS rebinding).
 */
export function refuseForeign(request: RequestOrigin, rules: OriginRules): void {
  if (!isOwnHost(request, rules)) throw new ForeignRequest('Host', 'MCP_AGGREGATOR_ALLOWED_HOSTS');
  const { origin } = request;
  if (
    origin !== undefined &&
    !isSameHost(origin, request.forwardedHost) &&
    !rules.origins.has(origin)
  ) {
    throw new ForeignRequest('Origin', 'MCP_AGGREGATOR_ALLOWED_ORIGINS');
  }
}

function isOwnHost(request: RequestOrigin, rules: OriginRules): boolean {
  if (!rules.loopbackOnly && rules.hosts.size === 0) return true;
  const host = request.host?.toLowerCase() ?? '';
  const name = host.replace(/:\d+$/, '');
  if (isLoopbackHost(name) || rules.hosts.has(name) || rules.hosts.has(host)) return true;
  // Kubernetes probes the pod's IP address, which unlike a name cannot be rebound.
  return !rules.loopbackOnly && request.isPublicRoute && isIP(name.replace(/^\[|\]$/g, '')) !== 0;
}

/** `host` as the client sent it. */
export function isSameHost(origin: string, host: string): boolean {
  return URL.canParse(origin) && new URL(origin).host === host.toLowerCase();
}
