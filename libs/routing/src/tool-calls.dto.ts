import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  InvalidInput,
  isJsonObject,
  type JsonObject,
  type RawJsonObject,
  UNKNOWN_FIELD,
} from '@app/platform';
import type { ToolAnswer } from './call-tool.command.js';

/** For the API description only; requests are parsed by `readToolCall`. */
export class CallToolDto {
  @ApiProperty({
    example: 'github-mcp.create_issue',
    description:
      'The namespaced name, the name on the MCP endpoint, or the original name where only one server has it.',
  })
  readonly name!: string;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    example: { repo: 'owner/repo', title: 'Bug report' },
  })
  readonly arguments?: JsonObject;

  @ApiPropertyOptional({
    format: 'uuid',
    description: 'Server of the tool; `name` is then the original name at that server.',
  })
  readonly server_id?: string;

  @ApiPropertyOptional({
    example: 'q3ZkT0b1xYcA',
    description:
      '`metadata.search_id` of the search that found the tool: if the call succeeds, searches learn from it.',
  })
  readonly search_id?: string;
}

const FIELDS: ReadonlySet<string> = new Set(['name', 'arguments', 'server_id', 'search_id']);

/** Validates by hand: class validation would cost more than routing the call (docs/decisions/0700). */
export function readToolCall(body: unknown): CallToolDto {
  if (!isJsonObject(body)) throw refused([], 'Input should be a JSON object', body);
  for (const key of Object.keys(body)) {
    if (!FIELDS.has(key)) {
      throw new InvalidInput([{ loc: ['body', key], ...UNKNOWN_FIELD }]);
    }
  }
  const { name, arguments: args = null, server_id = null, search_id = null } = body;
  if (typeof name !== 'string') throw refused(['name'], 'Input should be a string', name);
  if (name === '') {
    throw new InvalidInput([
      { loc: ['body', 'name'], msg: 'Must not be empty', type: 'value_error' },
    ]);
  }
  if (args !== null && !isJsonObject(args)) {
    throw refused(['arguments'], 'Input should be a JSON object', args);
  }
  if (server_id !== null && typeof server_id !== 'string') {
    throw refused(['server_id'], 'Input should be a string', server_id);
  }
  if (search_id !== null && typeof search_id !== 'string') {
    throw refused(['search_id'], 'Input should be a string', search_id);
  }
  return {
    name,
    ...(args && { arguments: args }),
    ...(server_id !== null && { server_id }),
    ...(search_id !== null && { search_id }),
  };
}

function refused(place: readonly string[], msg: string, given: unknown): InvalidInput {
  const type = given === undefined ? 'missing' : 'type_error';
  return new InvalidInput([{ loc: ['body', ...place], msg, type }]);
}

export class CallMetadataView {
  @ApiProperty({ example: 'github-mcp' })
  readonly routed_to!: string;

  @ApiProperty({ format: 'uuid' })
  readonly server_id!: string;

  @ApiProperty({ example: 0.1 })
  readonly routing_time_ms!: number;

  @ApiProperty({ example: 450.2 })
  readonly execution_time_ms!: number;

  @ApiProperty({ example: 450.5 })
  readonly total_time_ms!: number;

  @ApiPropertyOptional({
    description: 'True when the health checks of the server fail although it answers calls.',
  })
  readonly warning?: string;
}

export class ToolAnswerView {
  @ApiProperty({
    type: 'array',
    items: {
      type: 'object',
      required: ['type'],
      properties: { type: { type: 'string', example: 'text' }, text: { type: 'string' } },
      additionalProperties: true,
    },
    description: 'Content blocks of MCP as the server wrote them.',
  })
  readonly content!: JsonObject[];

  @ApiPropertyOptional({ type: 'object', additionalProperties: true })
  readonly structuredContent?: JsonObject;

  @ApiProperty()
  readonly isError!: boolean;

  @ApiProperty()
  readonly metadata!: CallMetadataView;
}

/** The complete result of the server with our details of the call added. */
export function toToolAnswerView(answer: ToolAnswer): RawJsonObject {
  const { result } = answer;
  return result.without('resultType').with({
    ...(!result.has('content') && { content: [] }),
    isError: result.get('isError') === true,
    metadata: metadataOf(answer),
  });
}

function metadataOf({ route, routingMs, executionMs, totalMs }: ToolAnswer): JsonObject {
  const { id, name, status } = route.server;
  return {
    routed_to: name,
    server_id: id,
    routing_time_ms: rounded(routingMs),
    execution_time_ms: rounded(executionMs),
    total_time_ms: rounded(totalMs),
    ...(status === 'DEGRADED' && { warning: `Server ${name} is degraded: its health checks fail` }),
  };
}

/** Rounds to microseconds; further digits are noise. */
function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 1_000) / 1_000;
}
