import { isJsonObject, type JsonObject, tokenScopes } from '@app/platform';
import { resourceOf } from '@app/access';
import { redirectProblem } from './redirect-addresses.js';

/** Parameters that are passed on; all others are of extensions that this service does not have. */
const PARAMETERS = {
  authorize: [
    ...['response_type', 'client_id', 'redirect_uri', 'scope', 'state', 'prompt', 'resource'],
    ...['code_challenge', 'code_challenge_method'],
  ],
  token: [
    ...['grant_type', 'client_id', 'code', 'redirect_uri', 'code_verifier', 'refresh_token'],
    ...['scope', 'resource'],
  ],
  revoke: ['token', 'token_type_hint', 'client_id'],
} as const;

const MAX_URIS = 20;
const MAX_URI_CHARS = 2_000;
/** It is stored until a person has decided. */
export const MAX_STATE_CHARS = 2_048;
const MAX_NAME_CHARS = 200;

/**
 * A request as oidc-provider gets it. Scopes that are not of this service are dropped (clients ask for `openid`,
 * `offline_access` and others by habit), and the address of a resource gets its only spelling.
 */
export function cleanParameters(
  endpoint: keyof typeof PARAMETERS,
  given: URLSearchParams,
  issuer: string,
): URLSearchParams {
  const clean = new URLSearchParams();
  for (const name of PARAMETERS[endpoint]) {
    if (name === 'resource') {
      const resources = new Set(given.getAll(name).map((one) => canonicalResource(one, issuer)));
      // A token is for one; several together are none of this service, and are refused.
      if (resources.size > 0) clean.set(name, [...resources].join(' '));
      continue;
    }
    for (const value of given.getAll(name)) {
      if (name === 'scope') clean.append(name, knownScopes(value));
      // A client id is stored with what it is given.
      else if (name === 'client_id' && value.length > MAX_URI_CHARS) continue;
      else clean.append(name, value);
    }
  }
  // An empty scope would be refused.
  if (clean.get('scope') === '') clean.delete('scope');
  if (endpoint === 'authorize' && !clean.has('scope')) clean.set('scope', 'read call');
  return clean;
}

function knownScopes(value: string): string {
  const given = value.split(' ');
  return tokenScopes.filter((scope) => given.includes(scope)).join(' ');
}

/** One that is not of this service stays as it is, and is refused. A slash after it is another spelling. */
function canonicalResource(value: string, issuer: string): string {
  const path = resourceOf(value, issuer) ?? resourceOf(value.replace(/\/$/, ''), issuer);
  return path === undefined ? value : `${issuer}${path}`;
}

/**
 * A registration (RFC 7591) as oidc-provider gets it: what the client is told and shown by, and nothing that makes it
 * more than a public client with codes and refresh tokens.
 */
export function cleanRegistration(body: unknown): CleanRegistration {
  if (!isJsonObject(body)) return refused(NO_LIST);
  const { redirect_uris: uris, client_name: name } = body;
  if (!Array.isArray(uris) || uris.length > MAX_URIS) return refused(NO_LIST);
  const addresses = new Set<string>();
  for (const uri of uris) {
    if (typeof uri !== 'string' || uri.length > MAX_URI_CHARS) return refused(NO_LIST);
    const problem = redirectProblem(uri);
    if (problem !== undefined) return { problem, error: 'invalid_redirect_uri' };
    addresses.add(uri);
  }
  const client = {
    redirect_uris: [...addresses],
    ...(typeof name === 'string' && name !== '' && { client_name: name.slice(0, MAX_NAME_CHARS) }),
    application_type: 'native',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
  return { client };
}

type CleanRegistration =
  | { readonly client: JsonObject }
  | {
      readonly client?: undefined;
      readonly problem: string;
      readonly error: 'invalid_client_metadata' | 'invalid_redirect_uri';
    };

const NO_LIST = 'redirect_uris has to be a list of at most 20 addresses, in a JSON object';

function refused(problem: string): CleanRegistration {
  return { problem, error: 'invalid_client_metadata' };
}
