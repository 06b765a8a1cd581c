import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { type Actor, actorOf, callerMay, ScopeMissing } from '@app/access';
import { McpEndpoint, type McpView } from '@app/mcp';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { asksForCall } from './call-scope.js';
import { Views } from './views.js';

/**
 * The MCP endpoints; what they speak is described by MCP, not by our OpenAPI. Routes of Fastify and no
 * controller: of a tool call, what Nest does around a handler would be a tenth of the work
 * (docs/decisions/0700).
 */
@Injectable()
export class McpRoutes implements OnModuleInit {
  constructor(
    private readonly http: HttpAdapterHost,
    private readonly endpoint: McpEndpoint,
    private readonly views: Views,
  ) {}

  onModuleInit(): void {
    const fastify: FastifyInstance = this.http.httpAdapter.getInstance();
    this.add(fastify, '/mcp', 'other', () => this.views.aggregate);
    this.add(fastify, '/mcp/search', 'search', () => this.views.search);
    this.add(fastify, '/mcp/servers/:name', 'other', ({ params }) =>
      this.views.ofServer((params as { name: string }).name),
    );
  }

  /** Whoever may read may look at what there is; the body says whether more is wanted. */
  private add(
    fastify: FastifyInstance,
    url: string,
    endpoint: 'search' | 'other',
    viewOf: (request: FastifyRequest) => McpView,
  ): void {
    fastify.all(url, { config: { access: 'read' } }, (request, reply) => {
      if (!callerMay('call', request) && asksForCall(request.body, endpoint)) {
        throw new ScopeMissing('call');
      }
      const view = viewOf(request);
      const actor: Actor = actorOf(request);
      // From here on the answer is not Fastify's: it may become a stream.
      reply.hijack();
      const http = {
        request: request.raw,
        response: reply.raw,
        headers: headersOf(request, reply),
      };
      void this.endpoint.handle(view, http, request.body, actor);
    });
  }
}

/** A browser reads an answer only with the headers that allow it to; nobody else needs them. */
function headersOf(request: FastifyRequest, reply: FastifyReply): readonly string[] {
  const own = ['x-request-id', request.id];
  if (request.headers.origin === undefined) return own;
  const set = Object.entries(reply.getHeaders()).map(([name, value]) => [name, String(value)]);
  return [...set.flat(), ...own];
}
