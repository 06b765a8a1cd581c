import type { OAuthAuthorizer } from './oauth/oauth-authorizer.js';
import type { connectUpstream as connect } from './connect-upstream.js';

/**
 * The way to servers, loaded when the first one is connected: a service without servers, and the
 * commands of a terminal, need not hold the SDK's client.
 */
export async function connectUpstream(
  ...how: Parameters<typeof connect>
): ReturnType<typeof connect> {
  const loaded = await import('./connect-upstream.js');
  return loaded.connectUpstream(...how);
}

/** The credentials for a server that is reached over HTTP. */
export async function openAuthorizer(
  ...how: Parameters<typeof OAuthAuthorizer.open>
): Promise<OAuthAuthorizer> {
  const loaded = await import('./oauth/oauth-authorizer.js');
  return loaded.OAuthAuthorizer.open(...how);
}
