import type { FastifyRequest } from 'fastify';

export const METADATA_PATH = '/.well-known/oauth-protected-resource';

/** The parts of a request that its base URL is derived from. */
export type Addressed = Pick<FastifyRequest, 'protocol' | 'host' | 'url'>;

/** The base URL of this service as the caller sees it. */
export function baseUrl(request: Addressed): string {
  return `${request.protocol}://${request.host}`;
}

/** For the challenge of a 401 (RFC 9728 §3.1: the path of the resource is the suffix). */
export function metadataUrl(request: Addressed): string {
  const { pathname } = new URL(request.url, 'http://localhost');
  const resource = /^\/mcp(\/|$)/.test(pathname) ? pathname : '';
  return `${baseUrl(request)}${METADATA_PATH}${resource}`;
}
