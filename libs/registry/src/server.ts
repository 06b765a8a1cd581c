import type { WrittenServer } from '@app/events';
import type { ProtocolEra } from '@app/mcp-protocol';
import type { Trust } from '@app/platform';
import type { TransportType } from './connection/connection-config.js';
import type { ListFailures } from './status/list-failures.js';
import type { ServerStatus } from './status/server-status.js';

/**
 * Whose credentials calls are made with. shared: those of the configuration. per_user: those of the person who calls;
 * the configured ones serve discovery and health. exchange: a token that is got for the JWT of the person who calls.
 */
export const credentialModes = ['shared', 'per_user', 'exchange'] as const;
export type CredentialMode = (typeof credentialModes)[number];

/** A registered MCP server. Its connection configuration, which holds secrets, is stored separately. */
export interface Server {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly transportType: TransportType;
  readonly status: ServerStatus;
  /** Whether the server should be connected: set by registration and connect, cleared by disconnect. */
  readonly wanted: boolean;
  readonly healthCheckUrl: string | null;
  /** The protocol era found by the last handshake; saves the next one a probe. */
  readonly protocolEra: ProtocolEra | null;
  /** Whether it has asked its callers questions that name no call, so that it serves one client at a time. */
  readonly asksCallers: boolean;
  /** What happens to changed definitions; null: as the setting says. */
  readonly trust: Trust | null;
  readonly credentials: CredentialMode;
  readonly toolCount: number;
  /** When the last discovery ended, whether it could read the tools or not. */
  readonly toolsReadAt: Date | null;
  readonly listFailures: ListFailures;
  readonly warnings: readonly string[];
  readonly errorMessage: string | null;
  readonly lastHealthCheck: Date | null;
  readonly consecutiveFailures: number;
  readonly responseTimeMs: number | null;
  readonly lastError: string | null;
  readonly registeredAt: Date;
  readonly connectedAt: Date | null;
  readonly updatedAt: Date;
  /** 1 when the row is inserted; grows with each write, so that the later of two states is known. */
  readonly version: number;
  /** 1 when the row is inserted; grows when open sessions have to be closed: another configuration, a disconnect. */
  readonly connectionVersion: number;
}

/** What an event says of the server: the part of the row that the catalogue shows. */
export function writtenServer(server: Server): WrittenServer {
  const { id, name, description, status, errorMessage, listFailures, trust } = server;
  const { credentials, registeredAt, version } = server;
  const shown = { id, name, description, status, errorMessage, listFailures, trust, credentials };
  return { ...shown, registeredAt, version };
}

export const SERVER_NAME = /^[a-z][a-z0-9_-]*$/;
export const MAX_SERVER_NAME = 255;
