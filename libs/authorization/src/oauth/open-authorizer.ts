import type { OAuthAuthorizer } from './oauth-authorizer.js';

/** Creates the authorizer of a server over HTTP. Loaded when the first such server is connected. */
export async function openAuthorizer(
  ...how: Parameters<typeof OAuthAuthorizer.open>
): Promise<OAuthAuthorizer> {
  const loaded = await import('./oauth-authorizer.js');
  return loaded.OAuthAuthorizer.open(...how);
}
