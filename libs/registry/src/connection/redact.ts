import { shortened } from '@app/platform';
import { maskArgs } from './mask-config.js';
import { oauthSecrets } from './oauth-settings.js';
import { MASK } from './placeholders.js';
import type { ResolvedTransport } from './resolve-config.js';

/** Redacting shorter values would remove ordinary words. */
const MIN_SECRET_CHARS = 6;

/** Values to redact from messages, longest first so that no substring of a secret remains. */
export function secretsOf(resolved: ResolvedTransport): string[] {
  const values =
    resolved.kind === 'STDIO'
      ? [...Object.values(resolved.env), ...argSecrets(resolved.args)]
      : [
          ...Object.values(resolved.headers).flatMap((value) => [
            value,
            value.replace(/^\S+ /, ''),
          ]),
          ...urlSecrets(resolved.url),
          ...(resolved.oauth ? oauthSecrets(resolved.oauth) : []),
          ...(resolved.exchange?.client_secret ? [resolved.exchange.client_secret] : []),
        ];
  return longestFirst(values);
}

/** Drops values that are too short, and sorts the rest. */
export function longestFirst(secrets: readonly string[]): string[] {
  return [...new Set(secrets)]
    .filter((value) => value.length >= MIN_SECRET_CHARS)
    .toSorted((a, b) => b.length - a.length);
}

function argSecrets(args: readonly string[]): string[] {
  const masked = maskArgs(args);
  return args
    .filter((arg, index) => arg !== masked[index])
    .flatMap((arg) => [arg, arg.slice(arg.indexOf('=') + 1), ...urlSecrets(arg)]);
}

function urlSecrets(value: string): string[] {
  if (!URL.canParse(value)) return [];
  const url = new URL(value);
  const parts = [url.username, url.password, ...url.searchParams.values()];
  return parts.flatMap((part) => [part, encodeURIComponent(part)]);
}

/** Limit for messages of a server or its transport in rows, logs and answers. */
const MAX_MESSAGE_CHARS = 2_000;

/** Truncate after redaction: a secret cut in half would not be found. */
export function redact(message: string, secrets: readonly string[]): string {
  const told = secrets.reduce((text, secret) => text.replaceAll(secret, MASK), message);
  return shortened(told, MAX_MESSAGE_CHARS);
}
