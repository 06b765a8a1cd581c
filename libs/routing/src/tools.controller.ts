import { Controller, Header, HttpCode, Post, Req, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiBearerAuth, ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { actorOf, RequireScope } from '@app/access';
import { ApiErrors, whileConnected } from '@app/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CallTool } from './call-tool.command.js';
import { CallToolDto, readToolCall, ToolAnswerView, toToolAnswerView } from './tools.dto.js';

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
  @ApiBody({ type: CallToolDto })
  @ApiOkResponse({ type: ToolAnswerView })
  @ApiErrors(400, 404, 413, 422, 502, 503, 504)
  async call(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Buffer> {
    const { name, arguments: args = {}, server_id } = readToolCall(request.body);
    const caller = { actor: actorOf(request), signal: whileConnected(reply) };
    const command = new CallTool(name, { arguments: args }, caller, server_id);
    return toToolAnswerView(await this.commands.execute(command)).bytes;
  }
}
