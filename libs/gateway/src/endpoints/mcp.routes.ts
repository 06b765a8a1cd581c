import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { actorOf, callerMay, Challenges, personOf, type Principal, principalOf } from '@app/access';
import { Catalogue } from '@app/catalogue';
import { MAX_BATCH } from '@app/mcp-protocol';
import { McpEndpoint, type McpSurface } from '@app/mcp-server';
import { bodyLimits, isJsonObject } from '@app/platform';
import {
  Absences,
  type Access,
  GrantOnlyReads,
  mayKnow,
  Permissions,
  ServerNotOffered,
} from '@app/policy';
import { ServerNotFound } from '@app/registry';
import { withReason } from '@app/routing';
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
    private readonly surfaces: McpSurfaces,
    private readonly permissions: Permissions,
    private readonly absences: Absences,
    private readonly catalogue: Catalogue,
    private readonly misplaced: MisplacedRequests,
    private readonly challenges: Challenges,
  ) {}

  onModuleInit(): void {
    const fastify: FastifyInstance = this.http.httpAdapter.getInstance();
    const { surfaces } = this;
    this.add(fastify, '/mcp', 'other', (access) => surfaces.aggregate(access));
    this.add(fastify, '/mcp/search', 'search', (access) => surfaces.search(access));
    this.add(fastify, '/mcp/servers/:name', 'other', (access, { name = '' }, request) =>
      this.serverSurface(access, name, request),
    );
    this.add(fastify, '/mcp/views/:slug', 'other', (access) => surfaces.aggregate(access));
    this.add(fastify, '/mcp/views/:slug/search', 'search', (access) => surfaces.search(access));
  }

  /** The scope `read` opens the endpoint; requests in the body that need `call` are checked per message. */
  private add(
    fastify: FastifyInstance,
    url: string,
    endpoint: 'search' | 'other',
    surfaceFor: (
      access: Access,
      params: Readonly<Record<string, string>>,
      request: FastifyRequest,
    ) => McpSurface,
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
    fastify.all<{ Params: Record<string, string> }>(
      url,
      { config, preParsing },
      (request, reply) => {
        const isCall = (): boolean => asksForCall(request.body, endpoint);
        if (!callerMay('call', request) && isCall())
          throw this.challenges.scopeMissing(request, 'call');
        if (this.misplaced.takesAnswer(request, reply)) return;
        const { params } = request;
        const access = this.accessOf(request, params['slug']);
        if (access.level === 'read' && isCall()) throw new GrantOnlyReads(access.view.slug);
        const surface = surfaceFor(access, params, request);
        if (access.callsPerMinute !== null) this.countCalls(access, request);
        const more = Array.isArray(request.body) ? Math.min(request.body.length, MAX_BATCH) - 1 : 0;
        const counting = request.countMore?.(more);
        if (!counting) return this.serve(surface, access, request, reply);
        return counting.then(() => this.serve(surface, access, request, reply));
      },
    );
  }

  /** A server of which nothing is offered does not exist for most callers. */
  private serverSurface(access: Access, name: string, request: FastifyRequest): McpSurface {
    try {
      return this.surfaces.ofServer(access, name);
    } catch (error) {
      const isHidden =
        error instanceof ServerNotFound && this.catalogue.current.serversByName.has(name);
      throw isHidden && mayKnow(principalOf(request))
        ? new ServerNotOffered(name, access.view.slug)
        : error;
    }
  }

  private countCalls(access: Access, request: FastifyRequest): void {
    const principal = principalOf(request);
    for (let calls = callsIn(request.body); calls > 0; calls--) {
      this.permissions.countCall(access, principal);
    }
  }

  private accessOf(request: FastifyRequest, slug: string | undefined): Access {
    const principal = principalOf(request);
    return slug === undefined
      ? this.permissions.onDefault(principal)
      : this.permissions.onView(principal, slug);
  }

  private withReason(
    error: unknown,
    tool: string,
    principal: Principal,
    slug: string,
    params: unknown,
  ): unknown {
    const reasonOf = this.absences.reasonFor(principal, slug);
    if (!reasonOf) return error;
    const { current } = this.catalogue;
    const server = isJsonObject(params) ? params['name'] : undefined;
    const { id } = (typeof server === 'string' && current.serversByName.get(server)) || {};
    return withReason(error, current, tool, id, reasonOf);
  }

  private serve(
    surface: McpSurface,
    { offer, view }: Access,
    request: FastifyRequest,
    reply: FastifyReply,
  ): void {
    const actor = actorOf(request);
    const principal = principalOf(request);
    const { client, isExpired, isGranted } = principal;
    const isAdmitted = (): boolean =>
      isGranted?.() !== false &&
      this.permissions.find(principal, view.slug)?.offer.key === offer.key;
    const mayOnlyRead = (): boolean =>
      this.permissions.find(principal, view.slug)?.level === 'read';
    // The reply leaves Fastify here, because it may become a stream.
    reply.hijack();
    const http = {
      request: request.raw,
      response: reply.raw,
      headers: headersOf(request, reply),
    };
    const endpoint = pathOf(request.url);
    void this.endpoint.handle(surface, http, request.body, {
      name: actor.name,
      ip: actor.ip,
      subject: personOf(actor).subject,
      isAdmitted,
      mayOnlyRead,
      endpoint,
      view: view.slug,
      ...(client !== undefined && { client }),
      ...(isExpired && { isExpired }),
      ...(mayKnow(principal) && {
        explainAbsence: (error: unknown, tool: string) =>
          this.withReason(error, tool, principal, view.slug, request.params),
      }),
    });
  }
}

function pathOf(url: string): string {
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}

/** Requests that count against the limit of a grant. */
function callsIn(body: unknown): number {
  const messages: readonly unknown[] = Array.isArray(body) ? body.slice(0, MAX_BATCH) : [body];
  return messages.filter((message) => isJsonObject(message) && message['method'] === 'tools/call')
    .length;
}

/** Browsers need the CORS headers that Fastify has set; other clients do not. */
function headersOf(request: FastifyRequest, reply: FastifyReply): readonly string[] {
  const own = ['x-request-id', request.id];
  if (request.headers.origin === undefined) return own;
  const set = Object.entries(reply.getHeaders()).map(([name, value]) => [name, String(value)]);
  return [...set.flat(), ...own];
}
