import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional, OmitType } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import {
  IsDate,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  IsUUID,
  Matches,
  Max,
  Min,
  MinLength,
} from 'class-validator';
import {
  Cursor,
  CursorPageView,
  CursorQuery,
  IsCleanText,
  isRowId,
  MaxChars,
  ToWholeNumber,
} from '@app/platform';
import { type AuditFilter, type AuditKind, auditKinds } from './audit-filter.js';
import { type AuditEntity, type AuditOutcome, auditOutcomes } from './audit.entity.js';

const ISO_TIME = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:\d\d))?$/;

/** A text that is no time stays one, and is refused. */
const ToTime = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) => {
    const time = typeof value === 'string' && ISO_TIME.test(value) ? new Date(value) : undefined;
    return time && !Number.isNaN(time.getTime()) ? time : value;
  });

const ShortText = (most: number): PropertyDecorator =>
  applyDecorators(
    IsString({ message: 'Input should be a string' }),
    MinLength(1, { message: 'Must not be empty' }),
    MaxChars(most, { message: `Must have at most ${most} characters` }),
    IsCleanText(),
  );

export class ListAuditParams extends CursorQuery {
  @ApiPropertyOptional({ example: 'server.registered' })
  @IsOptional()
  @Matches(/^[a-z_.]{1,64}$/, { message: 'Input should be the name of an event' })
  readonly event?: string;

  @ApiPropertyOptional({
    enum: auditKinds,
    description: 'calls: calls of tools; changes: everything else.',
  })
  @IsOptional()
  @IsIn(auditKinds, { message: `Must be one of ${auditKinds.join(', ')}` })
  readonly kind?: AuditKind;

  @ApiPropertyOptional({ example: 'ci', description: 'Who caused it.' })
  @IsOptional()
  @ShortText(255)
  readonly actor?: string;

  @ApiPropertyOptional({ enum: auditOutcomes })
  @IsOptional()
  @IsIn(auditOutcomes, { message: `Must be one of ${auditOutcomes.join(', ')}` })
  readonly outcome?: AuditOutcome;

  @ApiPropertyOptional({ format: 'uuid' })
  @IsOptional()
  @IsUUID(undefined, { message: 'Input should be a UUID' })
  readonly server_id?: string;

  @ApiPropertyOptional({ example: 'github', description: 'Name that the server had.' })
  @IsOptional()
  @ShortText(255)
  readonly server?: string;

  @ApiPropertyOptional({ example: 'github.create_issue', description: 'As `server.tool`.' })
  @IsOptional()
  @ShortText(600)
  readonly tool?: string;

  @ApiPropertyOptional({
    example: 'timeout',
    description: 'A part of the event, the actor, the server or the details, in any case.',
  })
  @IsOptional()
  @ShortText(200)
  readonly text?: string;

  @ApiPropertyOptional({ format: 'date-time', description: 'The earliest time.' })
  @ToTime()
  @IsOptional()
  @IsDate({ message: 'Must be a time such as 2026-11-20T08:00:00Z' })
  readonly from?: Date;

  @ApiPropertyOptional({ format: 'date-time', description: 'The first time that is too late.' })
  @ToTime()
  @IsOptional()
  @IsDate({ message: 'Must be a time such as 2026-11-20T08:00:00Z' })
  readonly to?: Date;
}

export const exportFormats = ['ndjson', 'csv'] as const;
export type ExportFormat = (typeof exportFormats)[number];
export const MAX_EXPORTED = 100_000;

export class ExportAuditParams extends OmitType(ListAuditParams, ['limit', 'offset', 'cursor']) {
  @ApiPropertyOptional({
    enum: exportFormats,
    description: 'Without it, `Accept: text/csv` asks for CSV; NDJSON otherwise.',
  })
  @IsOptional()
  @IsIn(exportFormats, { message: `Must be one of ${exportFormats.join(', ')}` })
  readonly format?: ExportFormat;

  @ApiPropertyOptional({
    minimum: 1,
    maximum: MAX_EXPORTED,
    default: MAX_EXPORTED,
    description: 'Entries; to export earlier ones, pass the time of the last as `to`.',
  })
  @ToWholeNumber()
  @IsOptional()
  @IsInt({ message: 'Must be a whole number' })
  @Min(1, { message: 'Must be at least 1' })
  @Max(MAX_EXPORTED, { message: `Must be at most ${MAX_EXPORTED}` })
  readonly limit: number = MAX_EXPORTED;
}

export class AuditEntryView {
  @ApiProperty({ example: '4711', description: 'Ascending with time.' })
  readonly id!: string;

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

  @ApiProperty({
    type: String,
    nullable: true,
    example: 'jwt:https://id.example.com user@example.com',
    description:
      'Never given to another, unlike a name; null for the service itself and for callers without a token.',
  })
  readonly actor_subject!: string | null;

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
    id: row.id,
    event: row.event,
    outcome: row.outcome,
    server_id: row.serverId,
    server_name: row.serverName,
    actor: row.actor,
    actor_subject: row.actorSubject,
    timestamp: row.timestamp.toISOString(),
    ip_address: row.ipAddress,
    details: row.details,
  };
}

export function toFilter({
  server_id: serverId,
  ...params
}: Omit<ListAuditParams, keyof CursorQuery>): AuditFilter {
  const { event, kind, actor, outcome, server, tool, text, from, to } = params;
  return { event, kind, actor, outcome, serverId, server, tool, text, from, to };
}
