import { Injectable } from '@nestjs/common';
import { actorOf } from '@app/access';
import { mcpHeader, rpcCode } from '@app/mcp-protocol';
import { ownerOfSession, sessionNotFound } from '@app/mcp-server';
import {
  dropRest,
  isStillSending,
  type PassFailure,
  PassingOn,
  type Peer,
  Peers,
} from '@app/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Passes requests of MCP clients on that belong to another replica: their session is there. */
@Injectable()
export class MisplacedRequests {
  constructor(
    private readonly peers: Peers,
    private readonly passing: PassingOn,
  ) {}

  /**
   * Whether the session of the request is at another replica; then it is answered here. Decided before the body is
   * read, so that it is passed on as it comes.
   */
  takesSession(request: FastifyRequest, reply: FastifyReply): boolean {
    const owner = ownerOfSession(request.headers[mcpHeader.sessionId]);
    const isOurs = owner === undefined || owner === this.peers.self || !this.peers.isClustered;
    if (isOurs || request.passedBy) return false;
    void this.passToOwner(owner, request, reply);
    return true;
  }

  private async passToOwner(
    id: string,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> {
    // The answer is written by the owner, or below.
    reply.hijack();
    const owner = await this.peers.find(id);
    if (!owner) return refuse(request, reply, 'gone');
    this.passTo(owner, request, reply, (failure) => refuse(request, reply, failure));
  }

  private passTo(
    owner: Peer,
    request: FastifyRequest,
    reply: FastifyReply,
    fail: (failure: PassFailure) => void,
  ): void {
    const { principal } = request;
    if (!principal) return fail('gone');
    const sender = {
      principal: { name: principal.name, scopes: principal.scopes },
      ip: actorOf(request).ip,
      requestId: request.id,
    };
    this.passing.pass(owner, { request: request.raw, response: reply.raw, sender }, fail);
  }
}

/** The session ended with its replica. What was sent before that is known may have been carried out (contract R46). */
function refuse(request: FastifyRequest, reply: FastifyReply, failure: PassFailure): void {
  const { raw } = reply;
  if (raw.headersSent || raw.destroyed) return;
  const error =
    failure === 'gone'
      ? sessionNotFound
      : {
          code: rpcCode.serverError,
          message:
            'The replica that keeps this session did not answer. The request may have been carried out: do not repeat it blindly.',
          data: { error_code: 'SERVICE_UNAVAILABLE', outcome: 'unknown' },
        };
  const body = JSON.stringify({ jsonrpc: '2.0', id: null, error });
  raw.writeHead(failure === 'gone' ? 404 : 502, {
    ...corsHeaders(reply),
    'x-request-id': request.id,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  });
  raw.end(body);
  if (isStillSending(request.raw)) dropRest(request.raw);
}

/** Set by Fastify for browsers. */
function corsHeaders(reply: FastifyReply): Record<string, string> {
  return Object.fromEntries(
    Object.entries(reply.getHeaders()).map(([name, value]) => [name, String(value)]),
  );
}
