import type { TransportType } from './connection-config.js';
import type { ServerStatus } from './server-status.js';

/** A registered MCP server; how it is reached (its secrets) is kept apart. */
export interface Server {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly transportType: TransportType;
  readonly status: ServerStatus;
  /** Whether it should be connected: set by registration and connect, cleared by disconnect. */
  readonly wanted: boolean;
  readonly healthCheckUrl: string | null;
  /** The protocol era its last handshake found, to spare the next one a probe. */
  readonly protocolEra: ProtocolEra | null;
  readonly toolCount: number;
  readonly warnings: readonly string[];
  readonly errorMessage: string | null;
  readonly lastHealthCheck: Date | null;
  readonly consecutiveFailures: number;
  readonly responseTimeMs: number | null;
  readonly lastError: string | null;
  readonly registeredAt: Date;
  readonly connectedAt: Date | null;
  readonly updatedAt: Date;
}

export type ProtocolEra = 'legacy' | 'modern';

export const SERVER_NAME = /^[a-z][a-z0-9_-]*$/;
export const MAX_SERVER_NAME = 255;
