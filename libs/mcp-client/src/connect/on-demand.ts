import type { connectUpstream as connect } from './connect-upstream.js';

/**
 * Loads the client when the first server is connected: a service without servers and the CLI commands
 * do not need the SDK client in memory.
 */
export async function connectUpstream(
  ...how: Parameters<typeof connect>
): ReturnType<typeof connect> {
  const loaded = await import('./connect-upstream.js');
  return loaded.connectUpstream(...how);
}
