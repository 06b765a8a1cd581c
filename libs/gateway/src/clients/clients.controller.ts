import { Controller, Get, Header, Param, Query, Req, Res } from '@nestjs/common';
import {
  ApiBearerAuth,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiProduces,
  ApiProperty,
  ApiPropertyOptional,
  ApiTags,
} from '@nestjs/swagger';
import { IsIn, IsOptional, Matches } from 'class-validator';
import { RequireScope } from '@app/access';
import { ApiErrors, AppError } from '@app/platform';
import { VIEW_SLUG } from '@app/policy';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { fileURLToPath } from 'node:url';
import {
  type Bridge,
  type ClientSnippet,
  clientSnippets,
  snippetsAsText,
} from './client-snippets.js';

/** Path of the command line program, relative to this built file. */
const PROGRAM = fileURLToPath(new URL('../../../../apps/aggregator/src/cli.js', import.meta.url));
const TEXT = 'text/plain; charset=utf-8';

const suffixes = { all: '', search: '/search' } as const;
type Endpoint = keyof typeof suffixes;

export class ClientsQuery {
  @ApiPropertyOptional({
    enum: Object.keys(suffixes),
    default: 'all',
    description: 'all: every tool is listed. search: three tools that find and call the others.',
  })
  @IsOptional()
  @IsIn(Object.keys(suffixes), { message: 'Must be one of all, search' })
  readonly endpoint?: Endpoint;

  @ApiPropertyOptional({
    example: 'support',
    description: 'Name of a view: the client lists, or finds, what this view offers.',
  })
  @IsOptional()
  @Matches(VIEW_SLUG, { message: 'Must be the name of a view' })
  readonly view?: string;
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
  @ApiProperty({
    description: 'Configuration snippet; replace YOUR_TOKEN by a token of this service.',
  })
  readonly snippet!: string;
}

export class ClientsView {
  @ApiProperty({ example: 'http://127.0.0.1:8081/mcp' })
  readonly url!: string;
  @ApiProperty({ type: [ClientSnippetView] })
  readonly clients!: ClientSnippet[];
}

class ClientNotFound extends AppError {
  constructor(id: string, known: readonly string[]) {
    super(`Unknown MCP client: ${id.slice(0, 100)}. Known clients: ${known.join(', ')}`, {
      kind: 'not-found',
      code: 'NOT_FOUND',
    });
  }
}

@ApiTags('clients')
@ApiBearerAuth()
@Controller('api/v1/aggregator/clients')
export class ClientsController {
  @Get()
  @RequireScope('read')
  @ApiOperation({
    summary: 'Configuration snippets for MCP clients; as text with Accept: text/plain',
  })
  @ApiOkResponse({ type: ClientsView })
  @ApiErrors(422)
  listClientSnippets(
    @Query() query: ClientsQuery,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): ClientsView | string {
    const view = viewFor(query, request);
    void reply.header('vary', 'accept');
    if (!wantsText(request.headers.accept)) return view;
    void reply.type(TEXT);
    return snippetsAsText(view.clients);
  }

  @Get(':client')
  @RequireScope('read')
  @Header('content-type', TEXT)
  @ApiOperation({ summary: 'Configuration snippet for one MCP client, as plain text' })
  @ApiParam({ name: 'client', example: 'cursor' })
  @ApiProduces('text/plain')
  @ApiOkResponse({ type: String })
  @ApiErrors(404, 422)
  getClientSnippet(
    @Param('client') id: string,
    @Query() query: ClientsQuery,
    @Req() request: FastifyRequest,
  ): string {
    const { clients } = viewFor(query, request);
    const found = clients.find((client) => client.id === id);
    if (!found)
      throw new ClientNotFound(
        id,
        clients.map((client) => client.id),
      );
    return found.snippet;
  }
}

function viewFor({ endpoint = 'all', view }: ClientsQuery, request: FastifyRequest): ClientsView {
  const base = view === undefined ? '/mcp' : `/mcp/views/${view}`;
  const url = `${request.protocol}://${request.host}${base}${suffixes[endpoint]}`;
  const args = [PROGRAM, 'stdio', endpoint, ...(view === undefined ? [] : ['--view', view])];
  const bridge: Bridge = { command: process.execPath, args };
  return { url, clients: clientSnippets(url, bridge) };
}

/** Plain text only when requested explicitly: browsers and curl, which accept anything, get JSON. */
function wantsText(accept: string | undefined): boolean {
  const types = (accept ?? '').split(',').map((type) => type.split(';')[0]?.trim().toLowerCase());
  return types.includes('text/plain') && !types.includes('application/json');
}
