import type { FastifyRequest } from 'fastify';

export const METADATA_PATH = '/.well-known/oauth-protected-resource';

/** The part of a request that its own address follows from. */
export type Addressed = Pick<FastifyRequest, 'protocol' | 'host' | 'url'>;

/** Where this service is, as the caller sees it. */
export function baseUrl(request: Addressed): string {
  return `${request.protocol}://${request.host}`;
}

/** Where a client that was refused learns which issuer to ask (RFC 9728 §3.1: the resource's path is a suffix). */
export function metadataUrl(request: Addressed): string {
  const { pathname } = new URL(request.url, 'http://localhost');
  const resource = /^\/mcp(\/|$)/.test(pathname) ? pathname : '';
  return `${baseUrl(request)}${METADATA_PATH}${resource}`;
}
