import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import {
  ApiBearerAuth,
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import { type Actor, CallerMay, CurrentActor, RequireScope } from '@app/access';
import { ApiErrors, BodyLimit, Clock, CursorQuery } from '@app/platform';
import { toAuthorizationView } from './credentials/authorization.dto.js';
import { AuthorizationStore } from './credentials/authorization.store.js';
import { RegisterServer } from './register/register-server.command.js';
import { RemoveServer } from './change/remove-server.command.js';
import type { Server } from './server.js';
import { ServerIdPipe } from './server-id.pipe.js';
import { ServerStore } from './server.store.js';
import {
  historyCursor,
  HistoryView,
  ListServersQuery,
  RegisterServerDto,
  ServerDetailView,
  ServerListView,
  ServerView,
  toHistoryEventView,
  toServerDetailView,
  toServerView,
  UpdateServerDto,
} from './servers.dto.js';
import { type ToolSummary, ToolsOfServers } from './read/tools-of-servers.query.js';
import { UpdateServer } from './change/update-server.command.js';
import { WithheldOfServer } from './read/withheld-of-server.query.js';

@ApiTags('servers')
@ApiBearerAuth()
@Controller('api/v1/aggregator/servers')
export class ServersController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly servers: ServerStore,
    private readonly authorizations: AuthorizationStore,
    private readonly clock: Clock,
  ) {}

  @Post()
  @RequireScope('admin')
  @BodyLimit('long')
  @ApiOperation({ summary: 'Register an MCP server' })
  @ApiCreatedResponse({ type: ServerView })
  @ApiErrors(400, 409, 413, 422)
  async registerServer(
    @Body() dto: RegisterServerDto,
    @CurrentActor() actor: Actor,
  ): Promise<ServerView> {
    const registration = {
      name: dto.name,
      description: dto.description,
      transportType: dto.transport_type,
      connectionConfig: dto.connection_config,
      healthCheckUrl: dto.health_check_url,
      autoConnect: dto.auto_connect ?? true,
      trust: dto.trust,
      credentials: dto.credentials,
    };
    const server = await this.commands.execute(new RegisterServer(registration, actor));
    return toServerView(server, { withheldCount: 0, needsLogin: false });
  }

  @Get()
  @RequireScope('read')
  @ApiOperation({ summary: 'List servers, by name' })
  @ApiOkResponse({ type: ServerListView })
  @ApiErrors(422)
  async listServers(@Query() query: ListServersQuery): Promise<ServerListView> {
    const { status, transport_type: transportType, text, include_tools, limit, offset } = query;
    const filter = { status, transportType, text };
    const { servers, total } = await this.servers.list(filter, { limit, offset });
    const ids = servers.map(({ id }) => id);
    const [toolsOf, waiting] = await Promise.all([
      this.queries.execute(new ToolsOfServers(ids)),
      this.authorizations.waitingForLogin(ids),
    ]);
    const views = servers.map((server) => {
      const { tools, withheldCount } = toolsOf.get(server.id) ?? NO_TOOLS;
      const needsLogin = waiting.has(server.id);
      const state = { withheldCount, needsLogin };
      return toServerView(counted(server, tools), state, include_tools ? tools : undefined);
    });
    return { servers: views, total, limit, offset };
  }

  @Get(':id')
  @RequireScope('read')
  @ApiOperation({ summary: 'Get a server and its connection configuration, with secrets masked' })
  @ApiOkResponse({ type: ServerDetailView })
  @ApiErrors(404)
  async getServer(
    @Param('id', ServerIdPipe) id: string,
    @CallerMay('admin') mayConsent: boolean,
  ): Promise<ServerDetailView> {
    return this.detail(await this.servers.get(id), mayConsent);
  }

  @Patch(':id')
  @RequireScope('admin')
  @BodyLimit('long')
  @ApiOperation({ summary: 'Change a server; a new connection_config reconnects it' })
  @ApiOkResponse({ type: ServerDetailView })
  @ApiErrors(400, 404, 409, 413, 422)
  async updateServer(
    @Param('id', ServerIdPipe) id: string,
    @Body() dto: UpdateServerDto,
    @CurrentActor() actor: Actor,
  ): Promise<ServerDetailView> {
    const update = {
      name: dto.name,
      description: dto.description,
      healthCheckUrl: dto.health_check_url,
      connectionConfig: dto.connection_config,
      trust: dto.trust,
      credentials: dto.credentials,
    };
    const server = await this.commands.execute(new UpdateServer(id, update, actor));
    return this.detail(server, true);
  }

  @Delete(':id')
  @HttpCode(204)
  @RequireScope('admin')
  @ApiOperation({ summary: 'Remove a server with its tools and history' })
  @ApiNoContentResponse()
  @ApiErrors(404)
  async removeServer(
    @Param('id', ServerIdPipe) id: string,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    await this.commands.execute(new RemoveServer(id, actor));
  }

  @Get(':id/history')
  @RequireScope('read')
  @ApiOperation({
    summary: 'List the connection and configuration events of a server, newest first',
  })
  @ApiOkResponse({ type: HistoryView })
  @ApiErrors(404, 422)
  async listServerHistory(
    @Param('id', ServerIdPipe) id: string,
    @Query() query: CursorQuery,
  ): Promise<HistoryView> {
    const page = historyCursor.read(query);
    await this.servers.get(id);
    const { shown, about } = historyCursor.page(await this.servers.history(id, page), page);
    return { events: shown.map(toHistoryEventView), ...about };
  }

  private async detail(server: Server, mayConsent: boolean): Promise<ServerDetailView> {
    const [config, authorization, toolsOf, withheld] = await Promise.all([
      this.servers.config(server.id),
      this.authorizations.load(server.id),
      this.queries.execute(new ToolsOfServers([server.id])),
      this.queries.execute(new WithheldOfServer(server.id)),
    ]);
    const now = this.clock.now();
    return toServerDetailView(
      counted(server, toolsOf.get(server.id)?.tools ?? []),
      config,
      toAuthorizationView(authorization, { now, mayConsent }),
      withheld,
    );
  }
}

const NO_TOOLS = { tools: [], withheldCount: 0 };

/** Counts the tools in the catalogue, which can be called, instead of those in the row (contract R39). */
function counted(server: Server, tools: readonly ToolSummary[]): Server {
  return { ...server, toolCount: tools.length };
}
