/** The states of a server's life and the only ways between them (logic contract, RULINGS R13). */
export const serverStatuses = [
  'DISCONNECTED',
  'CONNECTING',
  'CONNECTED',
  'DEGRADED',
  'ERROR',
] as const;
export type ServerStatus = (typeof serverStatuses)[number];

export type StatusSignal =
  /** Somebody wants a session: a request, a start of the service, a reconnect. */
  | 'connect'
  | 'connected'
  | 'connection-failed'
  | 'disconnect'
  /** The second health failure in a row. */
  | 'degraded'
  /** The third health failure in a row, or a session lost. */
  | 'failed'
  /** A health check succeeded. */
  | 'recovered';

const transitions: Readonly<
  Record<ServerStatus, Readonly<Partial<Record<StatusSignal, ServerStatus>>>>
> = {
  DISCONNECTED: { connect: 'CONNECTING' },
  CONNECTING: { connected: 'CONNECTED', 'connection-failed': 'ERROR', disconnect: 'DISCONNECTED' },
  CONNECTED: { disconnect: 'DISCONNECTED', degraded: 'DEGRADED', failed: 'ERROR' },
  DEGRADED: { recovered: 'CONNECTED', failed: 'ERROR', disconnect: 'DISCONNECTED' },
  ERROR: { connect: 'CONNECTING', disconnect: 'DISCONNECTED' },
};

/** Where the signal leads, or undefined when the contract has no such transition. */
export function nextStatus(from: ServerStatus, signal: StatusSignal): ServerStatus | undefined {
  return transitions[from][signal];
}

/** Only these answer calls and appear in search results. */
export function isServing(status: ServerStatus): boolean {
  return status === 'CONNECTED' || status === 'DEGRADED';
}
