import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { TransportType } from './connection/connection-config.js';
import type { ProtocolEra } from '@app/mcp-protocol';
import type { Trust } from '@app/platform';
import type { CredentialMode } from './server.js';
import type { ServerStatus } from './status/server-status.js';

@Entity({ schema: 'mcp', name: 'external_servers' })
export class ServerEntity {
  @PrimaryColumn('uuid')
  readonly id!: string;

  @Column('varchar')
  readonly name!: string;

  @Column('text', { nullable: true })
  readonly description!: string | null;

  @Column('varchar', { name: 'transport_type' })
  readonly transportType!: TransportType;

  /** Encrypted; see vault.ts. */
  @Column('jsonb', { name: 'connection_config' })
  readonly connectionConfig!: object;

  /** Encrypted, because health URLs may carry keys. */
  @Column('jsonb', { name: 'health_check_url', nullable: true })
  readonly healthCheckUrl!: object | null;

  @Column('varchar')
  readonly status!: ServerStatus;

  @Column('boolean')
  readonly wanted!: boolean;

  @Column('varchar', { name: 'protocol_era', nullable: true })
  readonly protocolEra!: ProtocolEra | null;

  @Column('boolean', { name: 'asks_callers', default: false })
  readonly asksCallers!: boolean;

  @Column('varchar', { nullable: true })
  readonly trust!: Trust | null;

  @Column('varchar', { default: 'shared' })
  readonly credentials!: CredentialMode;

  @Column('integer', { name: 'tool_count', default: 0 })
  readonly toolCount!: number;

  @Column('timestamptz', { name: 'tools_read_at', nullable: true })
  readonly toolsReadAt!: Date | null;

  @Column('jsonb', { name: 'list_failures', default: {} })
  readonly listFailures!: object;

  @Column('jsonb', { default: [] })
  readonly warnings!: string[];

  @Column('jsonb', { name: 'offering_warnings', default: [] })
  readonly offeringWarnings!: string[];

  @Column('text', { name: 'error_message', nullable: true })
  readonly errorMessage!: string | null;

  @Column('timestamptz', { name: 'last_health_check', nullable: true })
  readonly lastHealthCheck!: Date | null;

  @Column('integer', { name: 'consecutive_failures', default: 0 })
  readonly consecutiveFailures!: number;

  @Column('double precision', { name: 'response_time_ms', nullable: true })
  readonly responseTimeMs!: number | null;

  @Column('text', { name: 'last_error', nullable: true })
  readonly lastError!: string | null;

  @Column('timestamptz', { name: 'registered_at' })
  readonly registeredAt!: Date;

  @Column('timestamptz', { name: 'connected_at', nullable: true })
  readonly connectedAt!: Date | null;

  @Column('timestamptz', { name: 'updated_at' })
  readonly updatedAt!: Date;

  @Column('integer', { default: 1 })
  readonly version!: number;

  @Column('integer', { name: 'connection_version', default: 1 })
  readonly connectionVersion!: number;
}
