import { ApiProperty, ApiPropertyOptional, PartialType, PickType } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsBoolean, IsIn, IsObject, IsOptional, IsString, ValidateIf } from 'class-validator';
import {
  Cursor,
  CursorPageView,
  isRowId,
  IsCleanText,
  PageQuery,
  PageView,
  ToFlag,
  MaxChars,
  type Trust,
  trustLevels,
} from '@app/platform';
import type { ProtocolEra } from '@app/mcp-protocol';
import { AuthorizationView } from './credentials/authorization.dto.js';
import {
  type ConnectionConfig,
  type TransportType,
  transportTypes,
} from './connection/connection-config.js';
import { maskConfig, maskUrl } from './connection/mask-config.js';
import type { HistoryEntry } from './server.store.js';
import { type CredentialMode, credentialModes, MAX_SERVER_NAME, type Server } from './server.js';
import { type ServerStatus, serverStatuses } from './status/server-status.js';
import type { ToolSummary } from './read/tools-of-servers.query.js';
import type { WithheldDefinitions } from './read/withheld-of-server.query.js';

const upperCase = ({ value }: { value: unknown }): unknown =>
  typeof value === 'string' ? value.toUpperCase() : value;

export class RegisterServerDto {
  @ApiProperty({ example: 'github-mcp', pattern: '^[a-z][a-z0-9_-]*$', maxLength: MAX_SERVER_NAME })
  @IsString({ message: 'Input should be a string' })
  @IsCleanText()
  readonly name!: string;

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    maxLength: 1000,
    example: 'GitHub MCP Server for repository operations',
  })
  @IsOptional()
  @IsString({ message: 'Input should be a string' })
  @MaxChars(1000, { message: 'Must have at most 1000 characters' })
  @IsCleanText()
  readonly description?: string | null;

  @ApiProperty({ enum: transportTypes, description: 'In any case.', example: 'SSE' })
  @Transform(upperCase)
  @IsIn(transportTypes, { message: 'Must be one of STDIO, SSE, HTTP' })
  readonly transport_type!: TransportType;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description:
      'STDIO: command, args, env, cwd (absolute; by default a folder of its own). SSE: url, headers, oauth, exchange. HTTP (Streamable HTTP): base_url, headers, oauth, exchange. oauth is only for what was agreed beforehand: grant (authorization_code or client_credentials), client_id, client_secret or private_key with algorithm, scope, issuer. exchange is for credentials: exchange: token_url, client_id, client_secret, audience, scope. `${VAR}` stands for a variable of this service’s environment, `${user.NAME}` for a value of the person who calls.',
    example: {
      url: 'https://github-mcp.example.com/sse',
      headers: { Authorization: 'Bearer ${GITHUB_TOKEN}' },
    },
  })
  @IsObject({ message: 'Input should be a JSON object' })
  readonly connection_config!: object;

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    example: 'https://github-mcp.example.com/health',
  })
  @IsOptional()
  @IsString({ message: 'Input should be a string' })
  @MaxChars(2048, { message: 'Must have at most 2048 characters' })
  @IsCleanText()
  readonly health_check_url?: string | null;

  @ApiPropertyOptional({ default: true })
  @IsOptional()
  @IsBoolean({ message: 'Input should be true or false' })
  readonly auto_connect?: boolean;

  @ApiPropertyOptional({
    type: String,
    enum: [...trustLevels, null],
    nullable: true,
    description:
      'What happens to changed definitions: auto withholds a change with a finding until it is approved, pinned every change, review also what is listed first, locked anything that is not approved yet, without a way to approve it. Null: as MCP_AGGREGATOR_TRUST says.',
  })
  @IsOptional()
  @IsIn(trustLevels, { message: `Must be one of ${trustLevels.join(', ')}` })
  readonly trust?: Trust | null;

  @ApiPropertyOptional({
    enum: credentialModes,
    default: 'shared',
    description:
      'Whose credentials calls are made with. per_user: those of the person who calls, given once for `${user.NAME}` in headers or env, or by OAuth; the configuration has credentials (as defaults, `${user.NAME:-…}`) only for discovery and health. exchange: a token that `exchange` in the configuration says where to get for the JWT of the caller (RFC 8693).',
  })
  @ValidateIf((dto: { credentials?: unknown }) => dto.credentials !== undefined)
  @IsIn(credentialModes, { message: `Must be one of ${credentialModes.join(', ')}` })
  readonly credentials?: CredentialMode;
}

export class UpdateServerDto extends PartialType(
  PickType(RegisterServerDto, [
    'description',
    'health_check_url',
    'connection_config',
    'trust',
    'credentials',
  ] as const),
) {
  @ApiPropertyOptional({ description: 'New name; also renames the tools of the server.' })
  @ValidateIf((dto: UpdateServerDto) => dto.name !== undefined)
  @IsString({ message: 'Input should be a string' })
  @IsCleanText()
  readonly name?: string;
}

export class ListServersQuery extends PageQuery {
  @ApiPropertyOptional({ enum: serverStatuses, description: 'In any case.' })
  @Transform(upperCase)
  @IsOptional()
  @IsIn(serverStatuses, { message: `Must be one of ${serverStatuses.join(', ')}` })
  readonly status?: ServerStatus;

  @ApiPropertyOptional({ enum: transportTypes, description: 'In any case.' })
  @Transform(upperCase)
  @IsOptional()
  @IsIn(transportTypes, { message: 'Must be one of STDIO, SSE, HTTP' })
  readonly transport_type?: TransportType;

  @ApiPropertyOptional({
    example: 'git',
    description: 'A part of the name or the description, in any case.',
  })
  @IsOptional()
  @IsString({ message: 'Input should be a string' })
  @MaxChars(200, { message: 'Must have at most 200 characters' })
  @IsCleanText()
  readonly text?: string;

  @ApiPropertyOptional({ default: false })
  @ToFlag()
  @IsOptional()
  @IsBoolean({ message: 'Must be true or false' })
  readonly include_tools: boolean = false;
}

export class ToolSummaryView {
  @ApiProperty({ example: '1' })
  readonly id!: string;
  @ApiProperty({ example: 'github-mcp.create_issue' })
  readonly name!: string;
  @ApiProperty({ example: 'create_issue' })
  readonly original_name!: string;
  @ApiProperty({ example: 'Create a new GitHub issue' })
  readonly description!: string;
}

export class ServerView {
  @ApiProperty({ example: '550e8400-e29b-41d4-a716-446655440000' })
  readonly id!: string;
  @ApiProperty({ example: 'github-mcp' })
  readonly name!: string;
  @ApiProperty({ type: String, nullable: true })
  readonly description!: string | null;
  @ApiProperty({ enum: transportTypes })
  readonly transport_type!: TransportType;
  @ApiProperty({ enum: serverStatuses })
  readonly status!: ServerStatus;
  @ApiProperty({
    type: String,
    enum: ['legacy', 'modern', null],
    nullable: true,
    description:
      'legacy: the handshake, up to 2025-11-25; modern: stateless, from 2026-07-28; null before the first connection.',
  })
  readonly protocol_era!: ProtocolEra | null;
  @ApiProperty({ description: 'It uses OAuth, and a person has to log in.' })
  readonly needs_login!: boolean;
  @ApiProperty({ example: 2, description: 'Tools that wait for approval.' })
  readonly withheld_count!: number;
  @ApiProperty({ type: String, nullable: true })
  readonly health_check_url!: string | null;
  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  readonly last_health_check!: string | null;
  @ApiProperty()
  readonly tool_count!: number;
  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'Why it is not connected, or why its tools, prompts or resources could not be listed.',
  })
  readonly error_message!: string | null;
  @ApiProperty({
    type: [String],
    description: 'Problems for the owner of the server to fix, such as tools over a limit.',
  })
  readonly warnings!: readonly string[];
  @ApiProperty({
    type: String,
    enum: [...trustLevels, null],
    nullable: true,
    description: 'What happens to changed definitions; null: as MCP_AGGREGATOR_TRUST says.',
  })
  readonly trust!: Trust | null;
  @ApiProperty({
    enum: credentialModes,
    description: 'Whose credentials calls are made with: configured ones, or those of each person.',
  })
  readonly credentials!: CredentialMode;
  @ApiProperty({ format: 'date-time' })
  readonly registered_at!: string;
  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  readonly connected_at!: string | null;
  @ApiProperty({ format: 'date-time' })
  readonly updated_at!: string;
  @ApiPropertyOptional({ type: [ToolSummaryView], description: 'With include_tools=true.' })
  readonly tools?: ToolSummaryView[];
}

export class WithheldView {
  @ApiProperty({ description: 'Tools that are not offered until they are approved.' })
  readonly tools!: number;
  @ApiProperty({ description: 'Prompts that are not offered until they are approved.' })
  readonly prompts!: number;
  @ApiProperty({
    description: 'Of the instructions of the server: 1 while they wait for approval, else 0.',
  })
  readonly instructions!: number;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'What approve-all expects; null when nothing waits.',
  })
  readonly expected_hash!: string | null;
}

export class ServerDetailView extends ServerView {
  @ApiProperty({ type: WithheldView, description: 'What waits for approval.' })
  readonly withheld!: WithheldView;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description:
      'Connection configuration: literal secrets are masked as ********, `${VAR}` is shown as written.',
  })
  readonly connection_config!: Record<string, unknown>;

  @ApiProperty({
    type: AuthorizationView,
    nullable: true,
    description: 'OAuth state; only for servers that use OAuth.',
  })
  readonly authorization!: AuthorizationView | null;
}

export class ServerListView extends PageView {
  @ApiProperty({ type: [ServerView] })
  readonly servers!: ServerView[];
}

export class HistoryEventView {
  @ApiProperty({ example: 'CONNECTED' })
  readonly event_type!: string;
  @ApiProperty({ type: 'object', additionalProperties: true, example: { from: 'CONNECTING' } })
  readonly details!: object;
  @ApiProperty({ format: 'date-time' })
  readonly timestamp!: string;
}

export class HistoryView extends CursorPageView {
  @ApiProperty({ type: [HistoryEventView] })
  readonly events!: HistoryEventView[];
}

/** What the row of a server does not say. */
export interface ServerState {
  readonly withheldCount: number;
  readonly needsLogin: boolean;
}

export function toServerView(
  server: Server,
  { withheldCount, needsLogin }: ServerState,
  tools?: readonly ToolSummary[],
): ServerView {
  return {
    id: server.id,
    name: server.name,
    description: server.description,
    transport_type: server.transportType,
    status: server.status,
    protocol_era: server.protocolEra,
    needs_login: needsLogin,
    withheld_count: withheldCount,
    health_check_url: server.healthCheckUrl === null ? null : maskUrl(server.healthCheckUrl),
    last_health_check: server.lastHealthCheck?.toISOString() ?? null,
    tool_count: server.toolCount,
    error_message: server.errorMessage,
    warnings: server.warnings,
    trust: server.trust,
    credentials: server.credentials,
    registered_at: server.registeredAt.toISOString(),
    connected_at: server.connectedAt?.toISOString() ?? null,
    updated_at: server.updatedAt.toISOString(),
    ...(tools && {
      tools: tools.map((tool) => ({
        id: String(tool.id),
        name: tool.name,
        original_name: tool.originalName,
        description: tool.description,
      })),
    }),
  };
}

export function toServerDetailView(
  server: Server,
  config: ConnectionConfig,
  authorization: AuthorizationView | null,
  withheld: WithheldDefinitions,
): ServerDetailView {
  const needsLogin = authorization?.status === 'needed';
  return Object.assign(toServerView(server, { withheldCount: withheld.tools, needsLogin }), {
    connection_config: maskConfig(config),
    authorization,
    withheld: {
      tools: withheld.tools,
      prompts: withheld.prompts,
      instructions: withheld.instructions,
      expected_hash: withheld.hash,
    },
  });
}

export const historyCursor = new Cursor<HistoryEntry>('history', ({ id }) => id, isRowId);

export function toHistoryEventView(entry: HistoryEntry): HistoryEventView {
  return {
    event_type: entry.eventType,
    details: entry.details,
    timestamp: entry.timestamp.toISOString(),
  };
}
