/** The cookie by which the browser that began a login is known again. Sent along when another site leads back here. */
function cookieName(host: string): string {
  const port = /:(\d{1,5})$/.exec(host)?.[1];
  return port === undefined ? 'switchboard_connect' : `switchboard_connect_${port}`;
}

const MAX_AGE_S = 3_600;

interface CookiePlace {
  readonly host: string;
  readonly isTls: boolean;
  /** As browsers see it: the public address may have a path. */
  readonly callback: string;
}

export function browserCookie(secret: string, { host, isTls, callback }: CookiePlace): string {
  const secure = isTls ? '; Secure' : '';
  return `${cookieName(host)}=${secret}; Path=${new URL(callback).pathname}; Max-Age=${MAX_AGE_S}; HttpOnly; SameSite=Lax${secure}`;
}

export function browserSecretIn(cookies: string | undefined, host: string): string | undefined {
  const start = `${cookieName(host)}=`;
  const found = cookies
    ?.split(';')
    .map((cookie) => cookie.trim())
    .find((cookie) => cookie.startsWith(start));
  const secret = found?.slice(start.length);
  return secret !== undefined && /^[\w-]{43}$/.test(secret) ? secret : undefined;
}
