import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsNotEmpty, IsObject, IsOptional, IsString } from 'class-validator';
import type { JsonObject, WrittenObject } from '@app/platform';
import type { ToolAnswer } from './call-tool.command.js';

export class CallToolDto {
  @ApiProperty({
    example: 'github-mcp.create_issue',
    description:
      'The namespaced name, the name on the MCP endpoint, or the original name where only one server has it.',
  })
  @IsString({ message: 'Input should be a string' })
  @IsNotEmpty({ message: 'Must not be empty' })
  readonly name!: string;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    example: { repo: 'owner/repo', title: 'Bug report' },
  })
  @IsOptional()
  @IsObject({ message: 'Input should be a JSON object' })
  readonly arguments?: JsonObject;

  @ApiPropertyOptional({
    format: 'uuid',
    description: 'With it, `name` is the original name on that server.',
  })
  @IsOptional()
  @IsString({ message: 'Input should be a string' })
  readonly server_id?: string;
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

  @ApiPropertyOptional({ description: 'The server answers, but its health checks fail.' })
  readonly warning?: string;
}

export class ToolAnswerView {
  @ApiProperty({ type: 'array', items: { type: 'object', additionalProperties: true } })
  readonly content!: JsonObject[];

  @ApiPropertyOptional({ type: 'object', additionalProperties: true })
  readonly structuredContent?: JsonObject;

  @ApiProperty()
  readonly isError!: boolean;

  @ApiProperty()
  readonly metadata!: CallMetadataView;
}

/** The server's result with everything it holds, and what we know of the call beside it. */
export function toToolAnswerView(answer: ToolAnswer): WrittenObject {
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

/** Microseconds are the finest that is not noise. */
function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 1_000) / 1_000;
}
