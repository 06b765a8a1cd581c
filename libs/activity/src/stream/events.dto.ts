import { ApiProperty, ApiPropertyOptional, getSchemaPath } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ArrayMaxSize, ArrayNotEmpty, IsArray, IsIn, IsOptional, MaxLength } from 'class-validator';
import { type ActivityTopic, activityTopics } from '../feed/activity-event.js';

const MAX_SERVERS = 50;

/** `?topics=server,health` and `?topics=server&topics=health` mean the same. */
const ToList = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) => {
    const given: readonly unknown[] = Array.isArray(value) ? value : [value];
    return given.flatMap((one) => (typeof one === 'string' ? one.split(',') : [one]));
  });

export class StreamEventsParams {
  @ApiPropertyOptional({
    enum: activityTopics,
    isArray: true,
    description: 'Separated by commas; all that the token may hear by default.',
  })
  @IsOptional()
  @ToList()
  @IsArray()
  @ArrayNotEmpty({ message: 'Must name a topic' })
  @IsIn(activityTopics, { each: true, message: `A topic is one of ${activityTopics.join(', ')}` })
  readonly topics?: ActivityTopic[];

  @ApiPropertyOptional({
    type: [String],
    example: ['github-mcp'],
    description: 'Names or ids, separated by commas: only events about these servers.',
  })
  @IsOptional()
  @ToList()
  @IsArray()
  @ArrayNotEmpty({ message: 'Must name a server' })
  @ArrayMaxSize(MAX_SERVERS, { message: `Must name at most ${MAX_SERVERS} servers` })
  @MaxLength(255, { each: true, message: 'Must be the name or id of a server' })
  readonly server?: string[];
}

export class ServerEventData {
  @ApiProperty({
    enum: ['registered', 'updated', 'removed', 'status', 'lists'],
    description: '`lists`: one of its lists could not be read, or could again.',
  })
  readonly change!: string;
  @ApiProperty({ format: 'uuid' })
  readonly server_id!: string;
  @ApiProperty({ type: String, nullable: true, example: 'github-mcp' })
  readonly server!: string | null;
  @ApiPropertyOptional({ example: 'CONNECTED' })
  readonly from?: string;
  @ApiPropertyOptional({ example: 'ERROR' })
  readonly to?: string;
  @ApiPropertyOptional({ type: String, nullable: true, description: 'Why, in words.' })
  readonly reason?: string | null;
  @ApiPropertyOptional({ type: [String], description: 'Of an update: the fields.' })
  readonly fields?: string[];
}

export class CatalogueEventData {
  @ApiProperty({
    enum: ['discovered', 'classified', 'skills'],
    description: '`skills`: the taxonomy itself changed.',
  })
  readonly change!: string;
  @ApiPropertyOptional({ format: 'uuid' })
  readonly server_id?: string;
  @ApiPropertyOptional({ type: String, nullable: true })
  readonly server?: string | null;
  @ApiPropertyOptional({ type: 'integer', description: 'Tools.' })
  readonly added?: number;
  @ApiPropertyOptional({ type: 'integer' })
  readonly changed?: number;
  @ApiPropertyOptional({ type: 'integer' })
  readonly removed?: number;
  @ApiPropertyOptional({ type: 'integer', description: 'Tools whose skills changed.' })
  readonly classified?: number;
  @ApiPropertyOptional({ description: 'The skill that changed.' })
  readonly skill_id?: string;
}

export class CallEventData {
  @ApiProperty({ enum: ['start', 'end'] })
  readonly phase!: 'start' | 'end';
  @ApiProperty({ description: 'Joins the start and the end of a call.' })
  readonly call_id!: string;
  @ApiProperty({ example: 'github-mcp.create_issue' })
  readonly tool!: string;
  @ApiProperty({ format: 'uuid' })
  readonly server_id!: string;
  @ApiProperty({ example: 'github-mcp' })
  readonly server!: string;
  @ApiPropertyOptional({ description: 'Told to admins.' })
  readonly caller?: string;
  @ApiProperty({ type: String, nullable: true, description: 'The view that it was called in.' })
  readonly view!: string | null;
  @ApiProperty({ enum: ['mcp', 'rest', 'query'] })
  readonly entry!: string;
  @ApiPropertyOptional({ example: 12.4 })
  readonly duration_ms?: number;
  @ApiPropertyOptional({
    enum: ['success', 'tool_error', 'failure'],
    description: '`tool_error`: an answer of the server that says isError. `failure`: no answer.',
  })
  readonly outcome?: string;
  @ApiPropertyOptional({ type: String, nullable: true, example: 'EXECUTION_TIMEOUT' })
  readonly error_code?: string | null;
  @ApiPropertyOptional({ type: 'integer', description: 'Of the result.' })
  readonly bytes?: number;
}

export class SearchEventData {
  @ApiPropertyOptional({ description: 'Told to admins.' })
  readonly caller?: string;
  @ApiProperty({ type: 'integer', description: 'Tools that were found.' })
  readonly found!: number;
  @ApiProperty({ example: 'hierarchical' })
  readonly strategy!: string;
  @ApiProperty({ type: 'integer' })
  readonly servers_searched!: number;
  @ApiProperty({ example: 3.1 })
  readonly duration_ms!: number;
}

export class QueryEventData {
  @ApiPropertyOptional({ description: 'Told to admins.' })
  readonly caller?: string;
  @ApiProperty({ type: [String], description: 'Names of the servers that were asked.' })
  readonly servers!: string[];
  @ApiProperty({ type: 'integer', description: 'Of these, those without an answer.' })
  readonly failed!: number;
  @ApiProperty({ enum: ['success', 'failure'] })
  readonly outcome!: string;
  @ApiProperty({ example: 420.5 })
  readonly duration_ms!: number;
}

export class HealthEventData {
  @ApiProperty({ enum: ['failed', 'recovered'] })
  readonly change!: string;
  @ApiProperty({ format: 'uuid' })
  readonly server_id!: string;
  @ApiProperty({ type: String, nullable: true })
  readonly server!: string | null;
  @ApiPropertyOptional({ type: 'integer' })
  readonly consecutive_failures?: number;
  @ApiPropertyOptional()
  readonly reason?: string;
}

export class SessionEventData {
  @ApiProperty({ enum: ['opened', 'ended'] })
  readonly change!: string;
  @ApiProperty({ description: 'As in the list of client sessions.' })
  readonly session_id!: string;
  @ApiPropertyOptional({ description: 'Told to admins.' })
  readonly caller?: string;
  @ApiProperty({ enum: ['legacy', 'modern'] })
  readonly era!: string;
  @ApiProperty({ type: String, nullable: true, example: 'claude-code' })
  readonly client!: string | null;
  @ApiProperty({ example: '/mcp' })
  readonly endpoint!: string;
}

export class ApprovalEventData {
  @ApiProperty({ example: 'tools.withheld', description: 'As in the audit log.' })
  readonly change!: string;
  @ApiPropertyOptional({ format: 'uuid' })
  readonly server_id?: string;
  @ApiPropertyOptional()
  readonly server?: string;
  @ApiProperty({ type: 'object', additionalProperties: true })
  readonly details!: object;
}

export class PolicyEventData {
  @ApiProperty({ example: 'view.saved', description: 'As in the audit log.' })
  readonly change!: string;
  @ApiProperty({ type: 'object', additionalProperties: true, example: { view: 'support' } })
  readonly details!: object;
}

export class AuditEventData {
  @ApiProperty({ example: 'server.registered' })
  readonly event!: string;
  @ApiProperty({ enum: ['success', 'refused', 'failure'] })
  readonly outcome!: string;
  @ApiProperty()
  readonly actor!: string;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Of the actor, as in the audit log: another person may get the same name later.',
  })
  readonly actor_subject!: string | null;
  @ApiProperty({ type: String, nullable: true })
  readonly ip_address!: string | null;
  @ApiProperty({ type: String, nullable: true, format: 'uuid' })
  readonly server_id!: string | null;
  @ApiProperty({ type: String, nullable: true })
  readonly server_name!: string | null;
  @ApiProperty({ type: 'object', additionalProperties: true })
  readonly details!: object;
}

export class RateEventData {
  @ApiProperty({ description: 'The replica that this is about; add them up.' })
  readonly replica!: string;
  @ApiProperty({ type: 'integer', description: 'All calls that ended within the last second.' })
  readonly calls!: number;
  @ApiProperty({ type: 'integer', description: 'Of these, those that failed.' })
  readonly errors!: number;
  @ApiProperty({ type: 'integer', description: 'Calls that have events of their own.' })
  readonly shown!: number;
}

export class GapEventData {
  @ApiProperty({
    type: 'integer',
    nullable: true,
    description:
      'Events that this client missed; null if the number is not known. Read the state again.',
  })
  readonly lost!: number | null;
}

const dataOfTopics = {
  server: ServerEventData,
  catalogue: CatalogueEventData,
  call: CallEventData,
  search: SearchEventData,
  query: QueryEventData,
  health: HealthEventData,
  session: SessionEventData,
  approval: ApprovalEventData,
  policy: PolicyEventData,
  audit: AuditEventData,
  rate: RateEventData,
  gap: GapEventData,
} as const;

export const eventDataModels = Object.values(dataOfTopics);

/** One schema for each topic, so that generated clients can tell them apart. */
export const activityEventSchema = {
  oneOf: Object.entries(dataOfTopics).map(([topic, model]) => ({
    type: 'object' as const,
    required: ['id', 'at', 'topic', 'data'],
    properties: {
      id: { type: 'string' as const, example: '3f2a9c1b-1024' },
      at: { type: 'string' as const, format: 'date-time' },
      topic: { type: 'string' as const, enum: [topic] },
      data: { $ref: getSchemaPath(model) },
    },
  })),
};
