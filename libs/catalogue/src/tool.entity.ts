import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

@Entity({ schema: 'mcp', name: 'tools' })
export class ToolEntity {
  @PrimaryGeneratedColumn()
  readonly id!: number;

  @Column('text')
  readonly name!: string;

  @Column('text', { name: 'original_name' })
  readonly originalName!: string;

  @Column('uuid', { name: 'source_server_id', nullable: true })
  readonly sourceServerId!: string | null;

  @Column('boolean', { name: 'is_external' })
  readonly isExternal!: boolean;

  @Column('text', { nullable: true })
  readonly title!: string | null;

  @Column('text')
  readonly description!: string;

  @Column('json', { name: 'input_schema' })
  readonly inputSchema!: object;

  @Column('json')
  readonly definition!: object;

  @Column('varchar', { name: 'content_hash' })
  readonly contentHash!: string;

  /** Of the definition that was approved; null for a row of a version without pins. */
  @Column('varchar', { name: 'pin_hash', nullable: true })
  readonly pinHash!: string | null;

  /** See withheld.ts; null for a tool that is offered. */
  @Column('jsonb', { nullable: true })
  readonly withheld!: object | null;

  @Column('text', { name: 'skill_ids', array: true, default: [] })
  readonly skillIds!: string[];

  @Column('text', { name: 'primary_skill_id', nullable: true })
  readonly primarySkillId!: string | null;

  @Column('boolean', { name: 'is_classified', default: false })
  readonly isClassified!: boolean;

  @Column('timestamptz', { name: 'discovered_at' })
  readonly discoveredAt!: Date;

  @Column('timestamptz', { name: 'updated_at' })
  readonly updatedAt!: Date;
}
