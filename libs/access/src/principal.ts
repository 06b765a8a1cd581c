import { type TokenScope, tokenScopes } from '@app/platform';
import type { FastifyRequest } from 'fastify';
import { isIP } from 'node:net';

/** Who sent a request, as its token says. */
export interface Principal {
  readonly name: string;
  readonly scopes: readonly TokenScope[];
}

/** Who caused a change, for the audit log; commands carry it. */
export interface Actor {
  readonly name: string;
  readonly ip: string | null;
}

/** Changes that the service makes by itself. */
export const SYSTEM: Actor = { name: 'system', ip: null };

/** The name of a caller without a token. */
export const ANONYMOUS = 'anonymous';

/** Where a request comes from, for rows and limits; a forwarding header may hold anything, also no address. */
export function addressOf(request: FastifyRequest): string | null {
  return isIP(request.ip) === 0 ? (request.socket.remoteAddress ?? null) : request.ip;
}

/** `admin` includes `call`, `call` includes `read`. */
export function hasScope(principal: Principal, needed: TokenScope): boolean {
  const level = tokenScopes.indexOf(needed);
  return principal.scopes.some((scope) => tokenScopes.indexOf(scope) >= level);
}
