import { isJsonObject, type JsonObject, tokenScopes } from '@app/platform';
import { resourceOf } from '@app/access';

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
    for (const value of given.getAll(name)) {
      if (name === 'scope') clean.append(name, knownScopes(value));
      else if (name === 'resource') clean.append(name, canonicalResource(value, issuer));
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

/** One that is not of this service stays as it is, and is refused. */
function canonicalResource(value: string, issuer: string): string {
  const path = resourceOf(value, issuer);
  return path === undefined ? value : `${issuer}${path}`;
}

/**
 * A registration (RFC 7591) as oidc-provider gets it: what the client is told and shown by, and nothing that makes it
 * more than a public client with codes and refresh tokens.
 */
export function cleanRegistration(body: unknown): JsonObject | undefined {
  if (!isJsonObject(body)) return undefined;
  const { redirect_uris: uris, client_name: name } = body;
  const isUsable =
    Array.isArray(uris) &&
    uris.length <= MAX_URIS &&
    uris.every((uri) => typeof uri === 'string' && uri.length <= MAX_URI_CHARS);
  if (!isUsable) return undefined;
  return {
    redirect_uris: [...new Set(uris)],
    ...(typeof name === 'string' && name !== '' && { client_name: name.slice(0, MAX_NAME_CHARS) }),
    application_type: 'native',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
}
