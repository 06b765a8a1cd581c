import { All, Controller, Param, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { type Actor, CallerMay, CurrentActor, RequireScope, ScopeMissing } from '@app/access';
import { McpEndpoint, type McpView } from '@app/mcp';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { asksForCall } from './call-scope.js';
import { Views } from './views.js';

/**
 * The MCP endpoints; what they speak is described by MCP, not by our OpenAPI. Whoever may read may look
 * at what there is; the body says whether more is wanted.
 */
@ApiExcludeController()
@Controller('mcp')
@RequireScope('read')
export class McpController {
  constructor(
    private readonly endpoint: McpEndpoint,
    private readonly views: Views,
  ) {}

  @All()
  all(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @CurrentActor() actor: Actor,
    @CallerMay('call') mayCall: boolean,
  ): Promise<void> {
    if (!mayCall && asksForCall(request.body, 'other')) throw new ScopeMissing('call');
    return this.serve(this.views.aggregate, request, reply, actor);
  }

  @All('search')
  search(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @CurrentActor() actor: Actor,
    @CallerMay('call') mayCall: boolean,
  ): Promise<void> {
    if (!mayCall && asksForCall(request.body, 'search')) throw new ScopeMissing('call');
    return this.serve(this.views.search, request, reply, actor);
  }

  @All('servers/:name')
  one(
    @Param('name') name: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @CurrentActor() actor: Actor,
    @CallerMay('call') mayCall: boolean,
  ): Promise<void> {
    if (!mayCall && asksForCall(request.body, 'other')) throw new ScopeMissing('call');
    return this.serve(this.views.ofServer(name), request, reply, actor);
  }

  /** From here on the answer is not Fastify's: it may become a stream. */
  private serve(
    view: McpView,
    request: FastifyRequest,
    reply: FastifyReply,
    actor: Actor,
  ): Promise<void> {
    reply.hijack();
    if (request.headers.origin === undefined) reply.raw.setHeader('x-request-id', request.id);
    else copyHeaders(reply);
    const http = { request: request.raw, response: reply.raw };
    return this.endpoint.handle(view, http, request.body, actor);
  }
}

/** A browser reads an answer only with the headers that allow it to. */
function copyHeaders(reply: FastifyReply): void {
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value);
  }
}
