import { Body, Controller, HttpCode, Post, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiBearerAuth, ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import {
  type Actor,
  CurrentActor,
  CurrentPrincipal,
  type Principal,
  RequireScope,
} from '@app/access';
import {
  ApiErrors,
  BodyLimit,
  CurrentSpan,
  type JsonObject,
  type Span,
  whileConnected,
} from '@app/platform';
import { FollowsPolicy, Permissions } from '@app/policy';
import type { FastifyReply } from 'fastify';
import { readQuery } from './aggregated-query.js';
import { explainableQuerySchema, explainedAnswerSchema } from './query-contract.js';
import { QueryServers } from './query-servers.command.js';

@ApiTags('aggregated query')
@ApiBearerAuth()
@Controller('api/v1/aggregator/query')
export class QueryController {
  constructor(
    private readonly commands: CommandBus,
    private readonly permissions: Permissions,
  ) {}

  /** The body equals the arguments of the MCP tool and has the same parser (contract R33), hence no DTO. */
  @Post()
  @HttpCode(200)
  @RequireScope('call')
  @FollowsPolicy()
  @BodyLimit('long')
  @ApiOperation({ summary: 'Ask many servers one question; ranked, deduplicated, attributed' })
  @ApiBody({ schema: explainableQuerySchema })
  @ApiOkResponse({ schema: explainedAnswerSchema })
  @ApiErrors(400, 413, 422, 503)
  queryServers(
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
    @CurrentPrincipal() principal: Principal,
    @Res({ passthrough: true }) reply: FastifyReply,
    @CurrentSpan() span: Span | undefined,
  ): Promise<JsonObject> {
    const question = readQuery(body, { refuseUnknown: true });
    const { offer } = this.permissions.toCallInRest(principal);
    return this.commands.execute(
      new QueryServers(question, { actor, signal: whileConnected(reply), offer, span }),
    );
  }
}
