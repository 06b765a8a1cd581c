import { applyDecorators } from '@nestjs/common';
import {
  ApiExtraModels,
  ApiProperty,
  ApiPropertyOptional,
  ApiResponse,
  getSchemaPath,
} from '@nestjs/swagger';

export class ErrorServerView {
  @ApiProperty({ format: 'uuid' })
  readonly id!: string;

  @ApiProperty({ example: 'github-mcp' })
  readonly name!: string;

  @ApiProperty({ example: 'ERROR' })
  readonly status!: string;
}

/** Error answers as the API description shows them (contract R3). */
export class ErrorView {
  @ApiProperty({ example: 'Server not found: 550e8400-e29b-41d4-a716-446655440000' })
  readonly detail!: string;

  @ApiProperty({ example: 'SERVER_NOT_FOUND' })
  readonly error_code!: string;

  @ApiPropertyOptional({ description: 'The MCP server that caused the error.' })
  readonly server?: ErrorServerView;

  @ApiPropertyOptional({ type: 'object', additionalProperties: true })
  readonly context?: Record<string, unknown>;
}

export class FieldIssueView {
  @ApiProperty({
    type: 'array',
    items: { oneOf: [{ type: 'string' }, { type: 'integer' }] },
    example: ['body', 'connection_config', 'url'],
  })
  readonly loc!: (string | number)[];

  @ApiProperty({ example: "SSE transport requires 'url' in connection_config" })
  readonly msg!: string;

  @ApiProperty({ example: 'value_error' })
  readonly type!: string;
}

export class ValidationErrorView {
  @ApiProperty({ type: [FieldIssueView] })
  readonly detail!: FieldIssueView[];

  @ApiProperty({ example: 'VALIDATION_ERROR' })
  readonly error_code!: string;
}

const meanings: Readonly<Record<number, string>> = {
  400: 'The request cannot be read, or is ambiguous',
  401: 'No token, or an unknown one',
  403: 'The token lacks the scope, or the Host or Origin is not allowed',
  404: 'Not found',
  409: 'In conflict with what is there',
  413: 'The body is too large',
  422: 'Refused by validation; every field is named',
  429: 'Too many requests; see Retry-After',
  502: 'The MCP server answered with an error, or refused the connection',
  503: 'The MCP server is unavailable',
  504: 'The MCP server did not answer in time',
};

/** Documents the error answers of a route; 401, 403 and 429 come with every route that needs a token. */
export function ApiErrors(...statuses: number[]): MethodDecorator & ClassDecorator {
  return applyDecorators(
    ApiExtraModels(ErrorView, ValidationErrorView),
    ...[401, 403, 429, ...statuses].map((status) =>
      ApiResponse({
        status,
        description: meanings[status] ?? 'Error',
        schema: { $ref: getSchemaPath(status === 422 ? ValidationErrorView : ErrorView) },
      }),
    ),
  );
}
