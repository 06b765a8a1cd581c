import type { ServerView } from '@app/api-client';
import type { State } from '../ui/state-mark.js';

type Known = Pick<ServerView, 'status' | 'error_message' | 'needs_login'>;

/** What the console calls the state of a server. */
export function stateOfServer(server: Known): State {
  switch (server.status) {
    case 'CONNECTED':
      return 'ready';
    case 'CONNECTING':
      return 'connecting';
    case 'DEGRADED':
      return 'slow';
    case 'ERROR':
      return server.needs_login ? 'login' : 'failing';
    case 'DISCONNECTED':
    case 'DISCONNECTING':
      return 'off';
    default:
      return server.status satisfies never;
  }
}

/** Lists of servers are ordered by what a person has to do. */
export const serverNeeds = ['person', 'wait', 'nothing', 'off'] as const;
export type ServerNeed = (typeof serverNeeds)[number];

export function needOfServer(
  server: Known & Pick<ServerView, 'tool_count' | 'withheld_count'>,
): ServerNeed {
  const state = stateOfServer(server);
  switch (state) {
    case 'ready':
      // Connected, but its lists could not be read, or all that it lists is withheld.
      return server.error_message !== null || (server.withheld_count > 0 && server.tool_count === 0)
        ? 'person'
        : 'nothing';
    case 'connecting':
      return 'wait';
    case 'off':
      return 'off';
    case 'slow':
    case 'failing':
    case 'login':
    case 'withheld':
      return 'person';
    default:
      return state satisfies never;
  }
}

/** Connected with a token for less than it asks for: it works, and a person could log in for more. */
export function couldLogIn({ status, needs_login: needsLogin }: Known): boolean {
  return needsLogin && status === 'CONNECTED';
}

/** Whether its tools can be called. */
export function isServing({ status }: Pick<ServerView, 'status'>): boolean {
  return status === 'CONNECTED' || status === 'DEGRADED';
}

/** Why it needs a person, without what the state says already. */
export function reasonOfServer({
  error_message: reason,
}: Pick<Known, 'error_message'>): string | null {
  return reason === null ? null : shortReason(reason);
}

/** `Connecting failed: connection refused` beside the word `Failing`. */
export function shortReason(reason: string): string {
  return reason
    .replace(/^Connecting failed: (?=\S)/, '')
    .replace(/^[a-z]/, (first) => first.toUpperCase());
}
