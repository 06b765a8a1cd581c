import { Body, Controller, Delete, Get, HttpCode, Param, Put, Query } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import {
  ApiBearerAuth,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import { type Actor, CurrentActor, RequireScope } from '@app/access';
import { Catalogue, type CatalogueServer } from '@app/catalogue';
import { ApiErrors, BodyLimit, PageQuery } from '@app/platform';
import { QueriedServerNotFound } from '../aggregation.errors.js';
import { ChangeServerSettings } from './change-server-settings.command.js';
import {
  QueryRulesDto,
  QueryRulesView,
  ServerSettingsDto,
  ServerSettingsListView,
  ServerSettingsView,
  toServerSettings,
  toServerSettingsView,
} from './query-settings.dto.js';
import { QuerySettingsStore } from './query-settings.store.js';
import { ReplaceQueryRules } from './replace-query-rules.command.js';

@ApiTags('aggregated query')
@ApiBearerAuth()
@Controller('api/v1/aggregator/query')
export class QuerySettingsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly catalogue: Catalogue,
    private readonly store: QuerySettingsStore,
  ) {}

  @Get('rules')
  @RequireScope('read')
  @ApiOperation({ summary: 'List the rules that choose the servers of a query, in order' })
  @ApiOkResponse({ type: QueryRulesView })
  @ApiErrors(422)
  async listQueryRules(@Query() { limit, offset }: PageQuery): Promise<QueryRulesView> {
    const rules = await this.store.rules();
    return { rules: rules.slice(offset, offset + limit), total: rules.length, limit, offset };
  }

  @Put('rules')
  @RequireScope('admin')
  @BodyLimit('long')
  @ApiOperation({ summary: 'Replace all rules' })
  @ApiOkResponse({ type: QueryRulesView })
  @ApiErrors(400, 413, 422)
  async replaceQueryRules(
    @Body() { rules }: QueryRulesDto,
    @CurrentActor() actor: Actor,
  ): Promise<QueryRulesView> {
    await this.commands.execute(new ReplaceQueryRules(rules, actor));
    return this.listQueryRules(new PageQuery());
  }

  @Get('servers')
  @RequireScope('read')
  @ApiOperation({ summary: 'List the settings of servers for aggregated queries, ordered by name' })
  @ApiOkResponse({ type: ServerSettingsListView })
  @ApiErrors(422)
  async listQuerySettings(@Query() { limit, offset }: PageQuery): Promise<ServerSettingsListView> {
    const settings = await this.store.servers();
    const servers = [...this.catalogue.current.servers.values()].toSorted((a, b) =>
      a.name < b.name ? -1 : 1,
    );
    const views = servers
      .slice(offset, offset + limit)
      .map((server) => toServerSettingsView(server, settings.get(server.id)));
    return { servers: views, total: servers.length, limit, offset };
  }

  @Get('servers/:name')
  @RequireScope('read')
  @ApiOperation({ summary: 'Get the settings of a server for aggregated queries' })
  @ApiOkResponse({ type: ServerSettingsView })
  @ApiErrors(404)
  async getQuerySettings(@Param('name') name: string): Promise<ServerSettingsView> {
    const server = this.named(name);
    return toServerSettingsView(server, (await this.store.servers()).get(server.id));
  }

  @Put('servers/:name')
  @RequireScope('admin')
  @ApiOperation({
    summary:
      'Set the settings of a server for aggregated queries; omitted fields get their defaults',
  })
  @ApiOkResponse({ type: ServerSettingsView })
  @ApiErrors(400, 404, 413, 422)
  async replaceQuerySettings(
    @Param('name') name: string,
    @Body() dto: ServerSettingsDto,
    @CurrentActor() actor: Actor,
  ): Promise<ServerSettingsView> {
    const server = this.named(name);
    const settings = toServerSettings(dto);
    await this.commands.execute(new ChangeServerSettings(server, settings, actor));
    return toServerSettingsView(server, settings);
  }

  @Delete('servers/:name')
  @HttpCode(204)
  @RequireScope('admin')
  @ApiOperation({ summary: 'Reset the settings of a server to the defaults' })
  @ApiNoContentResponse()
  @ApiErrors(404)
  async resetQuerySettings(
    @Param('name') name: string,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    await this.commands.execute(new ChangeServerSettings(this.named(name), null, actor));
  }

  private named(name: string): CatalogueServer {
    const server = this.catalogue.current.serversByName.get(name);
    if (!server) throw new QueriedServerNotFound(name);
    return server;
  }
}
