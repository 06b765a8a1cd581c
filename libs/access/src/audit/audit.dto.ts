import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, IsUUID, Matches } from 'class-validator';
import { Cursor, CursorPageView, CursorQuery, isRowId } from '@app/platform';
import { type AuditEntity, type AuditOutcome, auditOutcomes } from './audit.entity.js';

export class ListAuditParams extends CursorQuery {
  @ApiPropertyOptional({ example: 'server.registered' })
  @IsOptional()
  @Matches(/^[a-z_.]{1,64}$/, { message: 'Input should be the name of an event' })
  readonly event?: string;

  @ApiPropertyOptional({ format: 'uuid' })
  @IsOptional()
  @IsUUID(undefined, { message: 'Input should be a UUID' })
  readonly server_id?: string;
}

export class AuditEntryView {
  @ApiProperty({ example: 'server.registered' })
  readonly event!: string;

  @ApiProperty({ enum: auditOutcomes })
  readonly outcome!: AuditOutcome;

  @ApiProperty({ type: String, format: 'uuid', nullable: true })
  readonly server_id!: string | null;

  @ApiProperty({ type: String, nullable: true, example: 'github-mcp' })
  readonly server_name!: string | null;

  @ApiProperty({ example: 'jwt:user@example.com' })
  readonly actor!: string;

  @ApiProperty({ format: 'date-time' })
  readonly timestamp!: string;

  @ApiProperty({ type: String, nullable: true, example: '192.168.1.1' })
  readonly ip_address!: string | null;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    example: { method: 'GET', route: '/mcp', status: 401, count: 1 },
  })
  readonly details!: object;
}

export class AuditPageView extends CursorPageView {
  @ApiProperty({ type: [AuditEntryView] })
  readonly entries!: AuditEntryView[];
}

export const auditCursor = new Cursor<AuditEntity>('audit', ({ id }) => id, isRowId);

export function toView(row: AuditEntity): AuditEntryView {
  return {
    event: row.event,
    outcome: row.outcome,
    server_id: row.serverId,
    server_name: row.serverName,
    actor: row.actor,
    timestamp: row.timestamp.toISOString(),
    ip_address: row.ipAddress,
    details: row.details,
  };
}
