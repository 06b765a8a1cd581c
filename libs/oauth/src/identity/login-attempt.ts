import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

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

/** Browsers forget a cookie in time; one that was copied is refused from `endsAt` on, in ms since the epoch. */
export function toCookie({ secret, to }: LoginAttempt, endsAt: number, key: Buffer): string {
  const text = `${secret}.${endsAt.toString(36)}.${Buffer.from(to).toString('base64url')}`;
  return `${text}.${sealOf(text, key).toString('base64url')}`;
}

/** Undefined for one that none of the keys has sealed, or that is too old. */
export function fromCookie(
  value: string | undefined,
  now: number,
  keys: readonly Buffer[],
): LoginAttempt | undefined {
  const parts = /^(([\w-]{43})\.([0-9a-z]{1,10})\.([\w-]*))\.([\w-]{43})$/.exec(value ?? '');
  const [, text = '', secret = '', endsAt = '', to = '', seal = ''] = parts ?? [];
  const given = Buffer.from(seal, 'base64url');
  if (!parts || !keys.some((key) => timingSafeEqual(given, sealOf(text, key)))) return undefined;
  if (Number.parseInt(endsAt, 36) <= now) return undefined;
  return { secret, to: ownPage(Buffer.from(to, 'base64url').toString()) };
}

function sealOf(text: string, key: Buffer): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function derived(what: string, secret: string): string {
  return createHash('sha256').update(`login ${what} ${secret}`).digest('base64url');
}
