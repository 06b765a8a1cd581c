import type { ServerView } from '@app/api-client';
import type { State } from '../ui/state-mark.js';

/** What the console calls the state of a server. */
export function stateOfServer(server: Pick<ServerView, 'status' | 'error_message'>): State {
  switch (server.status) {
    case 'CONNECTED':
      return 'ready';
    case 'CONNECTING':
      return 'connecting';
    case 'DEGRADED':
      return 'slow';
    case 'ERROR':
      return 'failing';
    case 'DISCONNECTED':
    case 'DISCONNECTING':
      return 'off';
    default:
      return server.status satisfies never;
  }
}
