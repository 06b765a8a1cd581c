import type { FieldIssue } from '@app/platform';
import { type ConnectionConfig, strings } from './connection-config.js';
import { issue } from './parse-config.js';
import { maskConfig, maskUrl } from './mask-config.js';
import { MASK, personalFieldsIn } from './placeholders.js';
import { STEERING } from './steering.js';

export interface Unmasked {
  readonly raw: unknown;
  /** Why masked values were not restored although stored ones exist. */
  readonly moved?: string;
}

const MASKED = 'Is the mask of a hidden value; send the value itself';

/**
 * Restores masked values in a configuration that a client read, changed and wrote back: a mask means "unchanged".
 * Masks are not restored when the same request changes the recipient of the secrets (host, program, issuer):
 * permission to change a server does not include reading its secrets, and sending them to another recipient would
 * reveal them.
 */
export function unmask(raw: unknown, stored: ConnectionConfig): Unmasked {
  const restored = restore(raw, maskConfig(stored), stored);
  const moved = movedTo(restored, stored);
  if (moved !== undefined) return { raw, moved };
  const issuer = issuerChange(restored, stored);
  const endpoint = exchangeChange(restored, stored);
  if (typeof restored !== 'object' || (issuer ?? endpoint) === undefined) return { raw: restored };
  return {
    raw: {
      ...restored,
      ...(issuer !== undefined && { oauth: at(raw, 'oauth') }),
      ...(endpoint !== undefined && { exchange: at(raw, 'exchange') }),
    },
    moved: issuer ?? endpoint ?? MASKED,
  };
}

/** Whether a health check URL equals the stored one once masked. */
export function isStoredUrl(given: string | null | undefined, stored: string | null): boolean {
  return (
    typeof given === 'string' &&
    stored !== null &&
    given.includes(MASK) &&
    given === maskUrl(stored)
  );
}

export function hasMask(value: string): boolean {
  return value.includes(MASK);
}

/** Issues for values that still contain a mask; no real secret is eight asterisks. */
export function maskLeftIn(config: ConnectionConfig, moved?: string): FieldIssue[] {
  return [...strings(config)]
    .filter(([, value]) => hasMask(value))
    .map(([loc]) => issue(loc, moved ?? MASKED));
}

/** Where the secrets of a configuration go: a change of it makes masks and values that people gave invalid. */
export function destinationOf(config: ConnectionConfig): string {
  switch (config.transport) {
    case 'STDIO': {
      const { command, args, cwd, env } = config;
      return JSON.stringify([command, args, cwd ?? null, ofEveryone(env)]);
    }
    case 'SSE':
      return originOf(config.url);
    case 'HTTP':
      return originOf(config.base_url);
    default:
      return config satisfies never;
  }
}

function restore(given: unknown, seen: unknown, kept: unknown): unknown {
  if (typeof given === 'string') return hasMask(given) && given === seen ? kept : given;
  if (Array.isArray(given)) {
    return given.map((item, i) => restore(item, at(seen, i), at(kept, i)));
  }
  if (typeof given === 'object' && given !== null) {
    return Object.fromEntries(
      Object.entries(given).map(([key, item]) => [
        key,
        restore(item, at(seen, key), at(kept, key)),
      ]),
    );
  }
  return given;
}

function movedTo(next: unknown, stored: ConnectionConfig): string | undefined {
  switch (stored.transport) {
    case 'STDIO':
      return programChange(next, stored);
    case 'SSE':
      return originChange(next, 'url', stored.url);
    case 'HTTP':
      return originChange(next, 'base_url', stored.base_url);
    default:
      return stored satisfies never;
  }
}

function originChange(next: unknown, field: string, stored: string): string | undefined {
  const given = at(next, field);
  const before = originOf(stored);
  if (typeof given !== 'string' || originOf(given) === before) return undefined;
  return `Is hidden, and was given for ${before}: with another scheme, host or port in ${field} send the value itself`;
}

/** OAuth credentials are sent to the issuer, which its whole URL identifies. */
function issuerChange(next: unknown, stored: ConnectionConfig): string | undefined {
  const given = at(next, 'oauth');
  const oauth = stored.transport === 'STDIO' ? undefined : stored.oauth;
  if (!oauth || given === undefined || at(given, 'issuer') === oauth.issuer) return undefined;
  return 'Is hidden, and was given for another issuer: with a changed oauth.issuer send the value itself';
}

/** The secret of the client is sent to the token endpoint. */
function exchangeChange(next: unknown, stored: ConnectionConfig): string | undefined {
  const given = at(next, 'exchange');
  const exchange = stored.transport === 'STDIO' ? undefined : stored.exchange;
  if (!exchange || given === undefined || at(given, 'token_url') === exchange.token_url) {
    return undefined;
  }
  return 'Is hidden, and was given for another endpoint: with a changed exchange.token_url send the value itself';
}

type Program = Extract<ConnectionConfig, { transport: 'STDIO' }>;

function programChange(next: unknown, stored: Program): string | undefined {
  const env = at(next, 'env');
  const isSame =
    at(next, 'command') === stored.command &&
    at(next, 'cwd') === stored.cwd &&
    JSON.stringify(at(next, 'args') ?? []) === JSON.stringify(stored.args) &&
    JSON.stringify(steering(env)) === JSON.stringify(steering(stored.env));
  if (isSame) return undefined;
  return 'Is hidden, and was given for another program: with a changed command, argument, folder, or variable that says what is run or connected to, send the value itself';
}

/** Any variable may say what a program does with what it is given, whatever its name. */
function ofEveryone(env: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(env)
    .filter(([, value]) => personalFieldsIn(value).length === 0)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
}

function steering(env: unknown): [string, unknown][] {
  if (typeof env !== 'object' || env === null) return [];
  return Object.entries(env)
    .filter(([name]) => STEERING.test(name))
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/** Scheme, host and port; with a placeholder among them, everything before the path, as written. */
function originOf(url: string): string {
  const [authority = ''] = /^[^/?#\\]*[/\\]*[^/?#\\]*/.exec(url) ?? [];
  if (authority.includes('${') || !URL.canParse(url)) return authority;
  return new URL(url).origin;
}

function at(value: unknown, key: string | number): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return Reflect.get(value, key) as unknown;
}
