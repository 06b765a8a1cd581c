import { Body, Controller, Header, HttpCode, Post, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type Actor, CurrentActor, RequireScope } from '@app/access';
import { ApiErrors, whileConnected } from '@app/platform';
import type { FastifyReply } from 'fastify';
import { CallTool } from './call-tool.command.js';
import { CallToolDto, ToolAnswerView, toToolAnswerView } from './tools.dto.js';

@ApiTags('tools')
@ApiBearerAuth()
@Controller('api/v1/tools')
export class ToolsController {
  constructor(private readonly commands: CommandBus) {}

  @Post('call')
  @HttpCode(200)
  @Header('content-type', 'application/json; charset=utf-8')
  @RequireScope('call')
  @ApiOperation({ summary: 'Call a tool of any connected server' })
  @ApiOkResponse({ type: ToolAnswerView })
  @ApiErrors(400, 404, 413, 422, 502, 503, 504)
  async call(
    @Body() dto: CallToolDto,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Buffer> {
    const caller = { actor, signal: whileConnected(reply) };
    const params = { arguments: dto.arguments ?? {} };
    const command = new CallTool(dto.name, params, caller, dto.server_id);
    return toToolAnswerView(await this.commands.execute(command)).bytes;
  }
}
