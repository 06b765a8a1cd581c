import type {
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
} from '@modelcontextprotocol/client';
import { isJsonObject, type JsonObject } from '@app/platform';
import { z } from 'zod';

/** What is agreed with an authorization server beforehand, every placeholder resolved. */
export interface OAuthSettings {
  readonly grant: 'authorization_code' | 'client_credentials';
  readonly client_id?: string | undefined;
  readonly client_secret?: string | undefined;
  readonly private_key?: string | undefined;
  readonly algorithm?: string | undefined;
  readonly scope?: string | undefined;
  readonly issuer?: string | undefined;
}

/** Where a server's authorization is kept; shared by all processes of the service. */
export interface AuthorizationMemory {
  load(): Promise<JsonObject | undefined>;
  save(remembered: {
    /** Holds secrets. */
    readonly state: JsonObject;
    /** A person has to consent. */
    readonly needed: boolean;
    /** What to ask a person; `secret` is in the answer and nowhere else. */
    readonly question: {
      readonly url: string;
      readonly until: number;
      readonly secret: string;
    } | null;
  }): Promise<void>;
  /** Runs the work while nobody else runs any for this server: two must not spend one refresh token. */
  alone<T>(work: () => Promise<T>): Promise<T>;
}

/** Names of secrets end as OAuth's do (`_token`, `_secret`): by that they are taken out of messages. */
const stateSchema = z.object({
  /** Which server and client it is for; for others it counts for nothing. */
  binding: z.string(),
  client: z
    .object({
      /** How the service described itself when it registered. */
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
  /** What the server last said about its authorization, for asking again. */
  challenge: z
    .object({ scope: z.string().optional(), resourceMetadataUrl: z.string().optional() })
    .optional(),
});
export type OAuthState = z.infer<typeof stateSchema>;

/** The state for that binding; nothing of it when it was kept for another. */
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

/** Values that must not reach a message. */
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
