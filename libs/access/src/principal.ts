import { type TokenScope, tokenScopes } from '@app/platform';

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

/** `admin` includes `call`, `call` includes `read`. */
export function hasScope(principal: Principal, needed: TokenScope): boolean {
  const level = tokenScopes.indexOf(needed);
  return principal.scopes.some((scope) => tokenScopes.indexOf(scope) >= level);
}
