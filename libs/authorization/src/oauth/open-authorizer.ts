import type { OAuthAuthorizer } from './oauth-authorizer.js';
import type { TrialAuthorizer } from './trial-authorizer.js';

/** Creates the authorizer of a server over HTTP. Loaded when the first such server is connected. */
export async function openAuthorizer(
  ...how: Parameters<typeof OAuthAuthorizer.open>
): Promise<OAuthAuthorizer> {
  const loaded = await import('./oauth-authorizer.js');
  return loaded.OAuthAuthorizer.open(...how);
}

/** The same for a configuration that is tried out. */
export async function openTrialAuthorizer(
  ...how: Parameters<typeof TrialAuthorizer.open>
): Promise<TrialAuthorizer> {
  const loaded = await import('./trial-authorizer.js');
  return loaded.TrialAuthorizer.open(...how);
}
