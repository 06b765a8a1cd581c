import { createHash } from 'node:crypto';

const MAX_TO_CHARS = 1_000;
/** Pages of this service that a login leads back to. */
const OWN_PAGE = /^\/(?:console|connect|oauth\/consent)\/[\w~!$&'()*+,;=:@%./?-]*$/;
export const HOME = '/console/';

/** A login that waits for the identity provider, kept in a cookie of its browser alone. */
export interface LoginAttempt {
  /** 256 bits that only the browser and this service know. */
  readonly secret: string;
  /** The page that it leads back to. */
  readonly to: string;
}

/** What proves to this service that an answer belongs to the attempt, made of its secret: nothing is stored. */
export interface Proofs {
  readonly state: string;
  readonly nonce: string;
  /** PKCE. */
  readonly verifier: string;
  readonly challenge: string;
}

export function proofsOf({ secret }: LoginAttempt): Proofs {
  const verifier = derived('verifier', secret);
  return {
    state: derived('state', secret),
    nonce: derived('nonce', secret),
    verifier,
    challenge: createHash('sha256').update(verifier).digest('base64url'),
  };
}

/** Only pages of this service, as the browser will read the address: a link must not lead elsewhere after the login. */
export function ownPage(to: unknown): string {
  if (typeof to !== 'string' || to.length > MAX_TO_CHARS || !OWN_PAGE.test(to)) return HOME;
  const { pathname, search } = new URL(to, 'http://localhost');
  return OWN_PAGE.test(pathname) ? pathname + search : HOME;
}

export function toCookie({ secret, to }: LoginAttempt): string {
  return `${secret}.${Buffer.from(to).toString('base64url')}`;
}

export function fromCookie(value: string | undefined): LoginAttempt | undefined {
  const [, secret, to] = /^([\w-]{43})\.([\w-]*)$/.exec(value ?? '') ?? [];
  if (secret === undefined || to === undefined) return undefined;
  return { secret, to: ownPage(Buffer.from(to, 'base64url').toString()) };
}

function derived(what: string, secret: string): string {
  return createHash('sha256').update(`login ${what} ${secret}`).digest('base64url');
}
