import { Controller, Get, Query, Req } from '@nestjs/common';
import {
  ApiBearerAuth,
  ApiOkResponse,
  ApiOperation,
  ApiProperty,
  ApiPropertyOptional,
  ApiTags,
} from '@nestjs/swagger';
import { IsIn, IsOptional } from 'class-validator';
import { RequireScope } from '@app/access';
import { ApiErrors } from '@app/platform';
import type { FastifyRequest } from 'fastify';
import { type ClientSnippet, clientSnippets } from './client-snippets.js';

const endpoints = { all: '/mcp', search: '/mcp/search' } as const;
type Endpoint = keyof typeof endpoints;

export class ClientsQuery {
  @ApiPropertyOptional({
    enum: Object.keys(endpoints),
    default: 'all',
    description: 'all: every tool is listed. search: three tools that find and call the others.',
  })
  @IsOptional()
  @IsIn(Object.keys(endpoints), { message: 'Must be one of all, search' })
  readonly endpoint?: Endpoint;
}

export class ClientSnippetView {
  @ApiProperty({ example: 'cursor' })
  readonly id!: string;
  @ApiProperty({ example: 'Cursor' })
  readonly name!: string;
  @ApiProperty({ example: '~/.cursor/mcp.json' })
  readonly where!: string;
  @ApiProperty({ enum: ['json', 'toml', 'shell'] })
  readonly language!: string;
  @ApiProperty({ description: 'YOUR_TOKEN stands for a token of this service.' })
  readonly snippet!: string;
}

export class ClientsView {
  @ApiProperty({ example: 'http://127.0.0.1:8081/mcp' })
  readonly url!: string;
  @ApiProperty({ type: [ClientSnippetView] })
  readonly clients!: ClientSnippet[];
}

@ApiTags('clients')
@ApiBearerAuth()
@Controller('api/v1/aggregator/clients')
export class ClientsController {
  @Get()
  @RequireScope('read')
  @ApiOperation({ summary: 'Configuration to paste into MCP clients' })
  @ApiOkResponse({ type: ClientsView })
  @ApiErrors(422)
  list(@Query() query: ClientsQuery, @Req() request: FastifyRequest): ClientsView {
    const url = `${request.protocol}://${request.host}${endpoints[query.endpoint ?? 'all']}`;
    return { url, clients: clientSnippets(url) };
  }
}
