import { Body, Controller, HttpCode, Post, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { RequireScope } from '@app/access';
import { ApiErrors, BodyLimit, whileConnected } from '@app/platform';
import type { FastifyReply } from 'fastify';
import { ServerTestView, TestServerDto, toServerTestView } from './server-trial.dto.js';
import { TryServer } from './try-server.command.js';

@ApiTags('servers')
@ApiBearerAuth()
@Controller('api/v1/aggregator/servers/test')
export class ServerTrialController {
  constructor(private readonly commands: CommandBus) {}

  /** Starts programs, as registering does, so it needs the same scope. */
  @Post()
  @HttpCode(200)
  @RequireScope('admin')
  @BodyLimit('long')
  @ApiOperation({
    summary:
      'Connect to a configuration without saving it, and list what it offers; takes at most 20 s',
  })
  @ApiOkResponse({ type: ServerTestView })
  @ApiErrors(400, 404, 413, 422, 503)
  async testServer(
    @Body() dto: TestServerDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ServerTestView> {
    const { text, key, values = {} } = dto.pasted ?? {};
    const given = {
      serverId: dto.server_id,
      name: dto.name,
      transportType: dto.transport_type,
      connectionConfig: dto.connection_config,
      healthCheckUrl: dto.health_check_url,
      pasted: text !== undefined && key !== undefined ? { text, key, values } : undefined,
    };
    return toServerTestView(
      await this.commands.execute(new TryServer(given, whileConnected(reply))),
    );
  }
}
