import type {
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
} from '@modelcontextprotocol/client';
import { isJsonObject, type JsonObject } from '@app/platform';
import { z } from 'zod';

/** Stores the authorization of a server; shared by all processes of the service. */
export interface AuthorizationMemory {
  load(): Promise<JsonObject | undefined>;
  save(remembered: {
    /** Contains secrets. */
    readonly state: JsonObject;
    /** Whether a person has to consent. */
    readonly needed: boolean;
    /** The open consent request; only the callback contains `secret`. */
    readonly question: {
      readonly url: string;
      readonly until: number;
      readonly secret: string;
    } | null;
    /** Of the token. */
    readonly scope?: string | undefined;
    /** Of the token, milliseconds since 1970. */
    readonly expiresAt?: number | undefined;
    /** A person has just consented. */
    readonly isGranted?: boolean;
  }): Promise<void>;
  /** Runs the work under a lock per server: a refresh token must not be used twice. */
  alone<T>(work: () => Promise<T>): Promise<T>;
}

/** Names of secrets end as in OAuth (`_token`, `_secret`): redaction matches these suffixes. */
const stateSchema = z.object({
  /** The server and client that it belongs to; it is ignored for others. */
  binding: z.string(),
  client: z
    .object({
      /** The metadata that the service registered with. */
      as: z.string(),
      information: z.custom<StoredOAuthClientInformation>(
        (value) => isJsonObject(value) && typeof value['client_id'] === 'string',
      ),
    })
    .optional(),
  tokens: z
    .object({
      access_token: z.string(),
      token_type: z.string(),
      expires_in: z.number().optional(),
      scope: z.string().optional(),
      refresh_token: z.string().optional(),
      id_token: z.string().optional(),
      issuer: z.string().optional(),
    })
    .optional(),
  /** Milliseconds since 1970. */
  expiresAt: z.number().optional(),
  /** The authorization server that configured credentials were first used at. */
  issuer: z.string().optional(),
  needed: z.boolean().default(false),
  question: z
    .object({
      url: z.string(),
      until: z.number(),
      state_secret: z.string(),
      verifier_secret: z.string(),
      redirectUrl: z.string(),
      scope: z.string().optional(),
      discovery: z.custom<OAuthDiscoveryState>(isJsonObject),
    })
    .optional(),
  /** The last challenge of the server, for a new consent request. */
  challenge: z
    .object({ scope: z.string().optional(), resourceMetadataUrl: z.string().optional() })
    .optional(),
});
export type OAuthState = z.infer<typeof stateSchema>;

/** The state for that binding; an empty state when it was stored for another. */
export function readState(stored: JsonObject | undefined, binding: string): OAuthState {
  const parsed = stateSchema.safeParse(stored);
  return parsed.success && parsed.data.binding === binding
    ? parsed.data
    : { binding, needed: false };
}

export function stateAsJson(state: OAuthState): JsonObject {
  const json: unknown = JSON.parse(JSON.stringify(state));
  return isJsonObject(json) ? json : {};
}

/** Values that must not appear in messages. */
export function secretsIn({ tokens, client, question }: OAuthState): string[] {
  const information = client?.information;
  const secrets = [
    tokens?.access_token,
    tokens?.refresh_token,
    tokens?.id_token,
    information && 'client_secret' in information ? information.client_secret : undefined,
    question?.verifier_secret,
    question?.state_secret,
  ];
  return secrets.flatMap((secret) => secret || []);
}
