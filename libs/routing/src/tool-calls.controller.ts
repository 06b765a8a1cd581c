import { Body, Controller, Header, HttpCode, Post, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiBearerAuth, ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import {
  type Actor,
  CurrentActor,
  CurrentPrincipal,
  personOf,
  type Principal,
  RequireScope,
} from '@app/access';
import { Catalogue } from '@app/catalogue';
import { ApiErrors, BodyLimit, CurrentSpan, type Span, whileConnected } from '@app/platform';
import { Absences, FollowsPolicy, Permissions } from '@app/policy';
import { ResultBudget } from '@app/results';
import type { FastifyReply } from 'fastify';
import { withReason } from './absent-tool.js';
import { CallTool } from './call-tool.command.js';
import { CallToolDto, readToolCall, ToolAnswerView, toToolAnswerView } from './tool-calls.dto.js';

@ApiTags('tools')
@ApiBearerAuth()
@Controller('api/v1/tools')
export class ToolCallsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly permissions: Permissions,
    private readonly absences: Absences,
    private readonly catalogue: Catalogue,
    private readonly budget: ResultBudget,
  ) {}

  @Post('call')
  @HttpCode(200)
  @Header('content-type', 'application/json; charset=utf-8')
  @RequireScope('call')
  @FollowsPolicy()
  @BodyLimit('any')
  @ApiOperation({ summary: 'Call a tool of any connected server' })
  @ApiBody({ type: CallToolDto })
  @ApiOkResponse({ type: ToolAnswerView })
  @ApiErrors(400, 404, 413, 422, 502, 503, 504)
  async callTool(
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
    @CurrentPrincipal() principal: Principal,
    @Res({ passthrough: true }) reply: FastifyReply,
    @CurrentSpan() span: Span | undefined,
  ): Promise<Buffer> {
    const { name, arguments: args = {}, server_id, search_id: searchId } = readToolCall(body);
    const { offer, view } = this.permissions.toCallInRest(principal);
    const origin = { entry: 'rest', view: view.slug } as const;
    const caller = { actor, signal: whileConnected(reply), origin, searchId, span };
    const command = new CallTool(name, { arguments: args }, caller, server_id, offer);
    const answer = await this.commands.execute(command).catch((error: unknown) => {
      const reasonOf = this.absences.reasonFor(principal, offer.view.slug);
      throw reasonOf ? withReason(error, this.catalogue.current, name, server_id, reasonOf) : error;
    });
    const { tool } = answer.route;
    const call = {
      owner: personOf(actor).subject,
      outputSchema: tool.definition['outputSchema'],
      reader: 'rest',
      takesLinks: true,
    } as const;
    const budgetTokens = tool.offeredAs?.budgetTokens ?? offer.view.budgetTokens ?? undefined;
    const result = await this.budget.within(answer.result, call, budgetTokens);
    return toToolAnswerView({ ...answer, result }).bytes;
  }
}
