import { Body, Controller, Get, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type Actor, CurrentActor, RequireScope } from '@app/access';
import { ApiErrors } from '@app/platform';
import { GetServer, ServerIdPipe } from '@app/registry';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ConnectServer } from './connect/connect-server.command.js';
import { DisconnectServer } from './connect/disconnect-server.command.js';
import { SessionPool } from './keep/session-pool.js';
import { LogsOfLeader } from './pass/logs-of-leader.js';
import {
  ConnectView,
  DisconnectDto,
  DisconnectView,
  LogsView,
  toConnectView,
  toDisconnectView,
  WaitQuery,
} from './sessions.dto.js';

@ApiTags('servers')
@ApiBearerAuth()
@Controller('api/v1/aggregator/servers/:id')
export class SessionsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly pool: SessionPool,
    private readonly logs: LogsOfLeader,
  ) {}

  @Post('connect')
  @HttpCode(200)
  @RequireScope('operate')
  @ApiOperation({ summary: 'Connect a server, and keep it connected' })
  @ApiOkResponse({ type: ConnectView })
  @ApiErrors(404, 422)
  async connectServer(
    @Param('id', ServerIdPipe) id: string,
    @Query() { wait_seconds = 0 }: WaitQuery,
    @CurrentActor() actor: Actor,
  ): Promise<ConnectView> {
    return toConnectView(
      await this.commands.execute(new ConnectServer(id, wait_seconds * 1_000, actor)),
    );
  }

  @Post('disconnect')
  @HttpCode(200)
  @RequireScope('operate')
  @ApiOperation({ summary: 'Disconnect a server; pending requests may end first' })
  @ApiOkResponse({ type: DisconnectView })
  @ApiErrors(404, 422)
  async disconnectServer(
    @Param('id', ServerIdPipe) id: string,
    @Query() { wait_seconds = 0 }: WaitQuery,
    @Body() { force = false }: DisconnectDto,
    @CurrentActor() actor: Actor,
  ): Promise<DisconnectView> {
    return toDisconnectView(
      await this.commands.execute(new DisconnectServer(id, force, wait_seconds * 1_000, actor)),
    );
  }

  @Get('logs')
  @RequireScope('operate')
  @ApiOperation({ summary: 'The last lines a STDIO server wrote to stderr' })
  @ApiOkResponse({ type: LogsView })
  @ApiErrors(404)
  async getServerLogs(
    @Param('id', ServerIdPipe) id: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const server = await this.queries.execute(new GetServer(id));
    if (this.logs.passOn(server, request, reply)) return;
    const view: LogsView = { server_id: id, lines: this.pool.logs(id) };
    await reply.send(view);
  }
}
