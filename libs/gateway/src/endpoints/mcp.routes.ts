import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { type Actor, actorOf, callerMay, ScopeMissing } from '@app/access';
import { MAX_BATCH } from '@app/mcp-protocol';
import { McpEndpoint, type McpSurface } from '@app/mcp-server';
import { bodyLimits } from '@app/platform';
import type { FastifyInstance, FastifyReply, FastifyRequest, RequestPayload } from 'fastify';
import { MisplacedRequests } from './misplaced-requests.js';
import { asksForCall } from './call-scope.js';
import { McpSurfaces } from './mcp-surfaces.js';

/**
 * The MCP endpoints; their protocol is specified by MCP, not by our OpenAPI document. Fastify routes instead of a
 * controller: Nest's handler pipeline would be a tenth of the cost of a tool call (docs/decisions/0700).
 */
@Injectable()
export class McpRoutes implements OnModuleInit {
  constructor(
    private readonly http: HttpAdapterHost,
    private readonly endpoint: McpEndpoint,
    private readonly views: McpSurfaces,
    private readonly misplaced: MisplacedRequests,
  ) {}

  onModuleInit(): void {
    const fastify: FastifyInstance = this.http.httpAdapter.getInstance();
    this.add(fastify, '/mcp', 'other', () => this.views.aggregate);
    this.add(fastify, '/mcp/search', 'search', () => this.views.search);
    this.add(fastify, '/mcp/servers/:name', 'other', ({ params }) =>
      this.views.ofServer((params as { name: string }).name),
    );
  }

  /** The scope `read` opens the endpoint; requests in the body that need `call` are checked per message. */
  private add(
    fastify: FastifyInstance,
    url: string,
    endpoint: 'search' | 'other',
    viewOf: (request: FastifyRequest) => McpSurface,
  ): void {
    const config = { access: 'read', bodyLimit: bodyLimits.any } as const;
    const preParsing = (
      request: FastifyRequest,
      reply: FastifyReply,
      payload: RequestPayload,
      done: (error: null, payload: RequestPayload) => void,
    ): void => {
      if (!this.misplaced.takesSession(request, reply)) done(null, payload);
    };
    fastify.all(url, { config, preParsing }, (request, reply) => {
      if (!callerMay('call', request) && asksForCall(request.body, endpoint)) {
        throw new ScopeMissing('call');
      }
      if (this.misplaced.takesAnswer(request, reply)) return;
      const view = viewOf(request);
      const more = Array.isArray(request.body) ? Math.min(request.body.length, MAX_BATCH) - 1 : 0;
      const counting = request.countMore?.(more);
      if (!counting) return this.serve(view, request, reply);
      return counting.then(() => this.serve(view, request, reply));
    });
  }

  private serve(view: McpSurface, request: FastifyRequest, reply: FastifyReply): void {
    const actor: Actor = actorOf(request);
    // The reply leaves Fastify here, because it may become a stream.
    reply.hijack();
    const http = {
      request: request.raw,
      response: reply.raw,
      headers: headersOf(request, reply),
    };
    void this.endpoint.handle(view, http, request.body, actor);
  }
}

/** Browsers need the CORS headers that Fastify has set; other clients do not. */
function headersOf(request: FastifyRequest, reply: FastifyReply): readonly string[] {
  const own = ['x-request-id', request.id];
  if (request.headers.origin === undefined) return own;
  const set = Object.entries(reply.getHeaders()).map(([name, value]) => [name, String(value)]);
  return [...set.flat(), ...own];
}
