import { z } from 'zod';
import { maskLiterals } from './placeholders.js';

/** Where a token of the caller is exchanged for one of the server (RFC 8693); field names are those of OAuth. */
export interface ExchangeSettings {
  readonly token_url: string;
  readonly client_id?: string | undefined;
  readonly client_secret?: string | undefined;
  /** Names the server at that authorization server; its URL by default. */
  readonly audience?: string | undefined;
  readonly scope?: string | undefined;
}

const TEXTS = ['token_url', 'client_id', 'client_secret', 'audience', 'scope'] as const;

export function exchangeSchema(text: z.ZodString) {
  const given = text.min(1, 'Must not be empty').optional();
  return z
    .strictObject({
      token_url: text.refine(
        (url) => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol),
        'Must be a URL that starts with https://',
      ),
      client_id: given,
      client_secret: given,
      audience: given,
      scope: given,
    })
    .refine(
      ({ client_id, client_secret }) => client_secret === undefined || client_id !== undefined,
      { path: ['client_id'], message: 'Is required with a client_secret' },
    );
}

export function* exchangeStrings(
  exchange: ExchangeSettings,
): Generator<readonly [loc: string[], value: string]> {
  for (const field of TEXTS) {
    const value = exchange[field];
    if (value !== undefined) yield [['exchange', field], value];
  }
}

export function maskExchange(exchange: ExchangeSettings): ExchangeSettings {
  const { client_secret: secret } = exchange;
  return { ...exchange, ...(secret !== undefined && { client_secret: maskLiterals(secret) }) };
}

export function resolveExchange(
  exchange: ExchangeSettings,
  text: (value: string) => string,
): ExchangeSettings {
  const { token_url, ...rest } = exchange;
  const resolved = Object.entries(rest).map(([name, value]) => [name, value && text(value)]);
  return { token_url: text(token_url), ...Object.fromEntries(resolved) };
}
