import type { OAuthSettings } from '@app/registry';
import {
  auth,
  type AuthOptions,
  discoverOAuthServerInfo,
  extractWWWAuthenticateParams,
  IssuerMismatchError,
  type OAuthDiscoveryState,
} from '@modelcontextprotocol/client';
import { AuthorizationFailed, ConnectFailed, type Refusal } from '@app/mcp-client';
import { AppError, cutText, type Egress } from '@app/platform';
import { GuardedFetch } from '../fetch/guarded-fetch.js';
import { OAuthClient } from './oauth-client.js';
import type { OAuthIdentity } from './oauth-identity.js';
import { type OAuthState, secretsIn } from './oauth-state.js';

/** Timeout for metadata, registration and token together. */
const TURN_MS = 20_000;
const MAX_REASON_CHARS = 300;
const NO_PKCE =
  'its authorization server does not say that it supports PKCE with S256 (code_challenge_methods_supported), without which an intercepted code could be used by others';
export const NO_OAUTH = 'neither the server nor its origin has metadata of OAuth';

export interface OAuthTarget {
  readonly url: string;
  readonly oauth?: OAuthSettings | undefined;
}

export interface OAuthOptions {
  /** Used in messages. */
  readonly serverName: string;
  readonly allowInsecureHttp: boolean;
  readonly egress: Egress;
  /** Undefined until the service listens. */
  identity(): OAuthIdentity | undefined;
  now(): number;
}

/** What a server asked for when it refused a request. */
export interface Challenge {
  readonly scope?: string | undefined;
  readonly resourceMetadataUrl?: string | undefined;
}

/** Where an authorization is stored and from whom it comes. */
interface Authorization {
  readonly target: OAuthTarget;
  /** Changed in place. */
  readonly state: OAuthState;
  readonly options: OAuthOptions;
  readonly persist: () => Promise<void>;
}

export type AttemptOptions = Pick<
  AuthOptions,
  'authorizationCode' | 'iss' | 'forceReauthorization'
>;

interface Attempt {
  /** Of the refusal; named in errors. */
  readonly status: number;
  readonly challenge: Challenge;
  readonly how: AttemptOptions;
  /** The consent request that a callback answers. */
  readonly answered: OAuthState['question'];
}

/** Tokens are bound to one server, and to one client of its authorization server. */
export function bindingOf({ url, oauth }: OAuthTarget): string {
  return JSON.stringify([url, oauth?.grant, oauth?.client_id, oauth?.issuer]);
}

export function challengeOf({
  challenge,
}: Refusal): ReturnType<typeof extractWWWAuthenticateParams> {
  if (challenge === undefined) return {};
  return extractWWWAuthenticateParams(
    new Response(null, { status: 401, headers: { 'www-authenticate': challenge } }),
  );
}

/** The authorization server of a server that refused a request; undefined if there is no metadata of OAuth. */
export async function discoverIssuer(
  target: OAuthTarget,
  options: OAuthOptions,
  { status, resourceMetadataUrl }: { status: number; resourceMetadataUrl: string | undefined },
): Promise<string | undefined> {
  const state = { binding: bindingOf(target), needed: false };
  const about = { target, options, state, persist: () => Promise.resolve() };
  const guarded = guardedFetch(about);
  try {
    const { resourceMetadata, authorizationServerMetadata, authorizationServerUrl } =
      await discoverOAuthServerInfo(target.url, {
        ...(resourceMetadataUrl && { resourceMetadataUrl: new URL(resourceMetadataUrl) }),
        fetchFn: guarded.fetch,
      });
    if (!resourceMetadata && !authorizationServerMetadata) return undefined;
    return authorizationServerMetadata?.issuer ?? authorizationServerUrl;
  } catch (error) {
    throw explained(error, status, guarded, about);
  }
}

/** Without a person: the service itself is the user. */
export function isUnattended({ oauth }: OAuthTarget): boolean {
  return oauth?.grant === 'client_credentials';
}

/**
 * One turn with the authorization server of a server: tokens where it gives them, else a consent request. The SDK
 * implements the protocol.
 */
export async function authorize(
  about: Authorization,
  { status, challenge: { scope, resourceMetadataUrl }, how, answered }: Attempt,
): Promise<'authorized' | 'asked' | 'no-oauth'> {
  const { target, options } = about;
  const identity = options.identity();
  if (!identity) throw new ConnectFailed('it wants to be authorized, and the service is starting');
  const serverUrl = target.url;
  const guarded = guardedFetch(about);
  const where = resourceMetadataUrl ? { resourceMetadataUrl: new URL(resourceMetadataUrl) } : {};
  const fetchFn = guarded.fetch;
  try {
    const discovery =
      answered?.discovery ?? (await discoverOAuthServerInfo(serverUrl, { ...where, fetchFn }));
    // Neither the server nor its origin has OAuth metadata: the server requires other credentials.
    if (!discovery.resourceMetadata && !discovery.authorizationServerMetadata) {
      if (target.oauth) throw new Error(NO_OAUTH);
      return 'no-oauth';
    }
    const client = clientFor(about, { identity, discovery, guarded, how, answered });
    const wanted = scope ? { scope } : {};
    const result = await auth(client, { ...how, ...wanted, ...where, serverUrl, fetchFn });
    return result === 'AUTHORIZED' ? 'authorized' : 'asked';
  } catch (error) {
    throw explained(error, status, guarded, about);
  }
}

interface ClientOptions extends Pick<Attempt, 'how' | 'answered'> {
  readonly identity: OAuthIdentity;
  readonly discovery: OAuthDiscoveryState;
  readonly guarded: GuardedFetch;
}

function clientFor(
  { target, state, options, persist }: Authorization,
  { identity, discovery, guarded, how, answered }: ClientOptions,
): OAuthClient {
  const refusesAsking = !isUnattended(target) && !supportsPkce(discovery);
  const mayRefresh = state.tokens?.refresh_token !== undefined && !how.forceReauthorization;
  if (refusesAsking && (answered || !mayRefresh)) throw new Error(NO_PKCE);
  return new OAuthClient({
    state,
    settings: target.oauth,
    identity,
    discovery,
    forceReauthorization: how.forceReauthorization === true,
    ...(answered && { answered }),
    now: () => options.now(),
    persist,
    beforeAsking: (url) => {
      // The SDK requests consent also when only the network failed.
      if (guarded.failure) throw guarded.failure;
      if (refusesAsking) throw new Error(NO_PKCE);
      guarded.refuseInsecure(url);
    },
  });
}

function guardedFetch(about: Authorization): GuardedFetch {
  const { url, oauth } = about.target;
  return new GuardedFetch({
    trusted: [url, oauth?.issuer].flatMap((one) =>
      one !== undefined && URL.canParse(one) ? [new URL(one)] : [],
    ),
    allowInsecureHttp: about.options.allowInsecureHttp,
    egress: about.options.egress,
    signal: AbortSignal.timeout(TURN_MS),
    redact: (text) => redact(text, about),
  });
}

function explained(
  error: unknown,
  status: number,
  { failure }: GuardedFetch,
  about: Authorization,
): Error {
  if (error instanceof AppError) return error;
  const told = cutText(redact(reasonOf(error), about).replace(/\s+/g, ' '), MAX_REASON_CHARS);
  return failure
    ? new ConnectFailed(`its authorization server: ${told}`, failure)
    : new AuthorizationFailed(status, told);
}

function redact(text: string, { target, state }: Authorization): string {
  const { client_secret, private_key } = target.oauth ?? {};
  return [...secretsIn(state), client_secret, private_key].reduce<string>(
    (told, secret) => (secret ? told.replaceAll(secret, '********') : told),
    text,
  );
}

/** The MCP specification requires PKCE support to be advertised. */
function supportsPkce({ authorizationServerMetadata }: OAuthDiscoveryState): boolean {
  const { code_challenge_methods_supported: methods } = authorizationServerMetadata ?? {};
  return methods?.includes('S256') === true;
}

function reasonOf(error: unknown): string {
  if (error instanceof IssuerMismatchError && error.kind === 'authorization_response') {
    // The SDK's message contains the issuer that the answer claims: do not show it.
    return 'the answer does not come from the authorization server that was asked';
  }
  return error instanceof Error ? error.message : String(error);
}
