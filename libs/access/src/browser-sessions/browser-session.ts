import type { Settings } from '@app/platform';
import { randomBytes } from 'node:crypto';

/** A login of a browser. It does what its token does, for as long as that token is accepted. */
export interface BrowserSession {
  /** SHA-256 of the id in the cookie, in hex. */
  readonly idHash: string;
  /** SHA-256 in hex of the token that it was made with. */
  readonly tokenHash: string;
  readonly expiresAt: Date;
}

/** Sessions of one token; a further login ends the one that was unused for longest. */
export const MAX_SESSIONS_OF_TOKEN = 20;
/** Browsers forget the cookie when the session cannot be alive any more. */
const MAX_AGE_S = 7 * 86_400;

/** 256 random bits; also the code of a login link. */
export function newSessionId(): string {
  return randomBytes(32).toString('base64url');
}

/**
 * Cookies are sent to every port of a host: the name tells apart services that listen on different ports of one
 * machine. At the public address with TLS it has the prefix with which no other host of the domain can set it.
 */
export function cookieName(host: string, secureHost?: string): string {
  if (host === secureHost) return '__Host-switchboard_session';
  const port = /:(\d{1,5})$/.exec(host)?.[1];
  return port === undefined ? 'switchboard_session' : `switchboard_session_${port}`;
}

/** The id in a Cookie header, for the Host that the browser used. */
export function sessionIdIn(
  cookies: string,
  host: string,
  secureHost?: string,
): string | undefined {
  const start = `${cookieName(host, secureHost)}=`;
  for (const cookie of cookies.split(';')) {
    const text = cookie.trim();
    if (!text.startsWith(start)) continue;
    const id = text.slice(start.length);
    return /^[\w-]{43}$/.test(id) ? id : undefined;
  }
  return undefined;
}

interface CookiePlace {
  readonly host: string;
  readonly isTls: boolean;
  /** See `secureHostOf`. */
  readonly secureHost?: string | undefined;
}

/** The host that browsers reach this service at by TLS alone, as the settings say. */
export function secureHostOf({
  MCP_AGGREGATOR_PUBLIC_URL: publicUrl,
}: Pick<Settings, 'MCP_AGGREGATOR_PUBLIC_URL'>): string | undefined {
  const url = publicUrl === undefined ? undefined : new URL(publicUrl);
  return url?.protocol === 'https:' ? url.host : undefined;
}

/** `Set-Cookie` that gives a browser its session. */
export function sessionCookie(id: string, place: CookiePlace): string {
  return cookieWith(id, MAX_AGE_S, place);
}

/** `Set-Cookie` that takes it away. */
export function clearedCookie(place: CookiePlace): string {
  return cookieWith('', 0, place);
}

function cookieWith(
  value: string,
  maxAge: number,
  { host, isTls, secureHost }: CookiePlace,
): string {
  const secure = isTls || host === secureHost ? '; Secure' : '';
  return `${cookieName(host, secureHost)}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Strict${secure}`;
}
