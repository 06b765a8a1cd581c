import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { TransportType } from './connection-config.js';
import type { ProtocolEra } from './server.js';
import type { ServerStatus } from './server-status.js';

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

  /** An envelope; see vault.ts. */
  @Column('jsonb', { name: 'connection_config' })
  readonly connectionConfig!: object;

  /** An envelope, because health URLs carry keys too. */
  @Column('jsonb', { name: 'health_check_url', nullable: true })
  readonly healthCheckUrl!: object | null;

  @Column('varchar')
  readonly status!: ServerStatus;

  @Column('boolean')
  readonly wanted!: boolean;

  @Column('varchar', { name: 'protocol_era', nullable: true })
  readonly protocolEra!: ProtocolEra | null;

  @Column('integer', { name: 'tool_count', default: 0 })
  readonly toolCount!: number;

  @Column('jsonb', { default: [] })
  readonly warnings!: string[];

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
}
