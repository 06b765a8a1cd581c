import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

export const auditOutcomes = ['success', 'refused', 'failure'] as const;
export type AuditOutcome = (typeof auditOutcomes)[number];

@Entity({ schema: 'mcp', name: 'audit_log' })
export class AuditEntity {
  @PrimaryGeneratedColumn({ type: 'bigint' })
  readonly id!: string;

  @Column('varchar')
  readonly event!: string;

  @Column('varchar')
  readonly outcome!: AuditOutcome;

  @Column('varchar')
  readonly actor!: string;

  @Column('varchar', { name: 'actor_subject', nullable: true })
  readonly actorSubject!: string | null;

  @Column('varchar', { name: 'ip_address', nullable: true })
  readonly ipAddress!: string | null;

  @Column('uuid', { name: 'server_id', nullable: true })
  readonly serverId!: string | null;

  @Column('varchar', { name: 'server_name', nullable: true })
  readonly serverName!: string | null;

  @Column('jsonb')
  readonly details!: object;

  @Column('timestamptz', { default: () => 'now()' })
  readonly timestamp!: Date;
}
