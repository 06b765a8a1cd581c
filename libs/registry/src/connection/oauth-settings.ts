import { z } from 'zod';
import type { FieldIssue } from '@app/platform';
import { maskLiterals } from './placeholders.js';

/** OAuth settings agreed with a server's authorization server in advance; field names are those of OAuth. */
export interface OAuthSettings {
  /** `client_credentials` is machine-to-machine access without consent by a person. */
  readonly grant: 'authorization_code' | 'client_credentials';
  readonly client_id?: string | undefined;
  readonly client_secret?: string | undefined;
  /** PKCS 8 in PEM, used instead of a client secret. */
  readonly private_key?: string | undefined;
  readonly algorithm?: string | undefined;
  /** Requested instead of every scope that the server advertises. */
  readonly scope?: string | undefined;
  /** The only authorization server that receives the credentials. */
  readonly issuer?: string | undefined;
}

const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512'],
];

const SECRETS = ['client_secret', 'private_key'] as const;
const TEXTS = ['client_id', ...SECRETS, 'scope', 'issuer'] as const;

export function oauthSchema(text: z.ZodString) {
  const given = text.min(1, 'Must not be empty').optional();
  return z
    .strictObject({
      grant: z.enum(['authorization_code', 'client_credentials']).default('authorization_code'),
      client_id: given,
      client_secret: given,
      private_key: given,
      algorithm: z.enum(ALGORITHMS, `Must be one of ${ALGORITHMS.join(', ')}`).optional(),
      scope: given,
      issuer: given,
    })
    .superRefine((oauth, context) => {
      const require = (field: string, message: string): void =>
        context.addIssue({ code: 'custom', path: [field], message });
      const hasSecret = oauth.client_secret !== undefined;
      const hasKey = oauth.private_key !== undefined;
      if ((hasSecret || hasKey) && oauth.client_id === undefined) {
        require('client_id', 'Is required with a client_secret or private_key');
      }
      if (hasKey && oauth.algorithm === undefined) {
        require('algorithm', 'Is required with private_key');
      }
      if (oauth.grant === 'authorization_code') {
        if (hasKey) require('private_key', 'Is for the grant client_credentials');
        return;
      }
      if (hasSecret === hasKey) {
        require('client_secret', 'client_credentials needs a client_secret or a private_key');
      }
      // No person checks where these credentials are sent, so without an issuer the server could name its own.
      if (oauth.issuer === undefined) {
        require('issuer', 'client_credentials needs the issuer that may see them');
      }
    });
}

/** A server gets either a configured Authorization header or an OAuth token, not both. */
export function oauthIssues(config: {
  readonly headers: Readonly<Record<string, string>>;
  readonly oauth?: OAuthSettings | undefined;
}): FieldIssue[] {
  const sent = Object.keys(config.headers).find((name) => name.toLowerCase() === 'authorization');
  if (!config.oauth || sent === undefined) return [];
  return [
    {
      loc: ['headers', sent],
      msg: 'OAuth sets this header; leave out one of the two',
      type: 'value_error',
    },
  ];
}

export function* oauthStrings(
  oauth: OAuthSettings,
): Generator<readonly [loc: string[], value: string]> {
  for (const field of TEXTS) {
    const value = oauth[field];
    if (value !== undefined) yield [['oauth', field], value];
  }
}

export function maskOAuth(oauth: OAuthSettings): OAuthSettings {
  return changed(oauth, SECRETS, maskLiterals);
}

export function resolveOAuth(oauth: OAuthSettings, text: (value: string) => string): OAuthSettings {
  return changed(oauth, TEXTS, text);
}

export function oauthSecrets(oauth: OAuthSettings): string[] {
  return SECRETS.flatMap((field) => oauth[field] ?? []);
}

function changed(
  oauth: OAuthSettings,
  fields: readonly (typeof TEXTS)[number][],
  change: (value: string) => string,
): OAuthSettings {
  const values = fields.flatMap((field) => {
    const value = oauth[field];
    return value === undefined ? [] : [[field, change(value)] as const];
  });
  return { ...oauth, ...Object.fromEntries(values) };
}
