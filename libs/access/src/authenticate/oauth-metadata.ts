import type { FastifyRequest } from 'fastify';

export const METADATA_PATH = '/.well-known/oauth-protected-resource';
/** Paths of the MCP endpoints, as routes below a base. */
export const MCP_ROUTES = [
  'mcp',
  'mcp/search',
  'mcp/servers/:name',
  'mcp/views/:slug',
  'mcp/views/:slug/search',
] as const;
const MCP_ENDPOINT = /^\/mcp(?:\/search|\/servers\/[^/]+|\/views\/[^/]+(?:\/search)?)?$/;

/** The parts of a request that its base URL is derived from. */
export type Addressed = Pick<FastifyRequest, 'protocol' | 'host' | 'url'>;

/** The base URL of this service as the caller sees it. */
export function baseUrl(request: Addressed): string {
  return `${request.protocol}://${request.host}`;
}

/** The path of the MCP endpoint that a URL of this service names; '' for everything else. */
export function endpointIn(url: string): string {
  const query = url.indexOf('?');
  const path = query < 0 ? url : url.slice(0, query);
  return MCP_ENDPOINT.test(path) ? path : '';
}

/** For the challenge of a 401 or 403 (RFC 9728 §3.1: the path of the resource is the suffix). */
export function metadataUrl(request: Addressed, publicUrl: string | undefined): string {
  return `${publicUrl ?? baseUrl(request)}${METADATA_PATH}${endpointIn(request.url)}`;
}

/**
 * What a resource identifier (RFC 8707) names here: '' the whole service, else the path of an MCP endpoint; undefined
 * for a resource of another service. Only the root has two spellings: with and without its slash.
 */
export function resourceOf(identifier: string, publicUrl: string): string | undefined {
  if (!URL.canParse(identifier)) return undefined;
  const { origin, pathname, search, hash, username, password } = new URL(identifier);
  const base = new URL(publicUrl);
  const prefix = base.pathname.replace(/\/$/, '');
  const isPlain = search === '' && hash === '' && username === '' && password === '';
  if (origin !== base.origin || !isPlain || !pathname.startsWith(prefix)) return undefined;
  const path = pathname.slice(prefix.length);
  if (path === '' || path === '/') return '';
  return MCP_ENDPOINT.test(path) ? path : undefined;
}

/** Where a token is accepted: everywhere, or only at MCP endpoints that its audience names. */
export type TokenReach = 'everywhere' | ReadonlySet<string>;

/**
 * The reach of an `aud` claim; undefined if it names neither this service nor one of its endpoints. Addresses count
 * only below the configured public URL: the Host of a request can be that of another service.
 */
export function reachOf(
  audience: unknown,
  {
    name,
    publicUrl,
  }: { readonly name: string | undefined; readonly publicUrl: string | undefined },
): TokenReach | undefined {
  const given = [audience].flat().filter((one) => typeof one === 'string');
  if (name !== undefined && given.includes(name)) return 'everywhere';
  if (publicUrl === undefined) return undefined;
  const resources = given.flatMap((one) => resourceOf(one, publicUrl) ?? []);
  if (resources.includes('')) return 'everywhere';
  return resources.length === 0 ? undefined : new Set(resources);
}

export function reaches(reach: TokenReach, url: string): boolean {
  return reach === 'everywhere' || reach.has(endpointIn(url));
}
