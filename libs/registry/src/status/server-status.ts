import type { ServerStatus } from '@app/events';

export type { ServerStatus };

/** The status of a server and the only allowed transitions (contract R13). */
export const serverStatuses = [
  'DISCONNECTED',
  'CONNECTING',
  'CONNECTED',
  'DEGRADED',
  'DISCONNECTING',
  'ERROR',
] as const satisfies readonly ServerStatus[];

export type StatusSignal =
  /** A session is requested: by a person, at startup, or by a reconnect. */
  | 'connect'
  | 'connected'
  | 'connection-failed'
  /** A disconnect was requested; pending calls end first. */
  | 'disconnecting'
  | 'disconnect'
  /** The second consecutive health failure. */
  | 'degraded'
  /** The third consecutive health failure, or a lost session. */
  | 'failed'
  /** A health check succeeded. */
  | 'recovered';

const transitions: Readonly<
  Record<ServerStatus, Readonly<Partial<Record<StatusSignal, ServerStatus>>>>
> = {
  DISCONNECTED: { connect: 'CONNECTING' },
  CONNECTING: { connected: 'CONNECTED', 'connection-failed': 'ERROR', disconnect: 'DISCONNECTED' },
  CONNECTED: {
    disconnecting: 'DISCONNECTING',
    disconnect: 'DISCONNECTED',
    degraded: 'DEGRADED',
    failed: 'ERROR',
  },
  DEGRADED: {
    recovered: 'CONNECTED',
    failed: 'ERROR',
    disconnecting: 'DISCONNECTING',
    disconnect: 'DISCONNECTED',
  },
  DISCONNECTING: { disconnect: 'DISCONNECTED', connect: 'CONNECTING' },
  ERROR: { connect: 'CONNECTING', disconnect: 'DISCONNECTED' },
};

/** The next status, or undefined when the contract has no such transition. */
export function nextStatus(from: ServerStatus, signal: StatusSignal): ServerStatus | undefined {
  return transitions[from][signal];
}

/** Disconnected by request, or about to be: neither listed, nor queried, nor connected by a call. */
export function isWithdrawn(status: ServerStatus): boolean {
  return status === 'DISCONNECTED' || status === 'DISCONNECTING';
}

/** Only these servers answer calls and appear in search results. */
export function isServing(status: ServerStatus): boolean {
  return status === 'CONNECTED' || status === 'DEGRADED';
}
