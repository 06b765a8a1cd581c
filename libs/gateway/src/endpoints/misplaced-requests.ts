import { Injectable } from '@nestjs/common';
import { actorOf, CallerTokens, type Principal } from '@app/access';
import { Catalogue, type CatalogueSnapshot } from '@app/catalogue';
import {
  idIn,
  mcpHeader,
  messageText,
  rpcCode,
  type RpcErrorBody,
  type RpcId,
} from '@app/mcp-protocol';
import { callNotFound, ownerOfCall, ownerOfSession, sessionNotFound } from '@app/mcp-server';
import {
  dropRest,
  isJsonObject,
  isStillSending,
  type PassFailure,
  PassingOn,
  Peers,
} from '@app/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Passes requests of MCP clients on that belong to another replica: their session, or their call, is there. */
@Injectable()
export class MisplacedRequests {
  private exchanged: { readonly in: CatalogueSnapshot; readonly is: boolean } | undefined;

  constructor(
    private readonly peers: Peers,
    private readonly passing: PassingOn,
    private readonly tokens: CallerTokens,
    private readonly catalogue: Catalogue,
  ) {}

  /**
   * Whether the session of the request is at another replica; then it is answered here. Decided before the body is
   * read, so that it is passed on as it comes.
   */
  takesSession(request: FastifyRequest, reply: FastifyReply): boolean {
    const owner = ownerOfSession(request.headers[mcpHeader.sessionId]);
    if (!this.isElsewhere(owner, request)) return false;
    void this.passTo(owner, request, reply, { gone: [404, sessionNotFound], id: null });
    return true;
  }

  /** The same for the answer of a stateless client to a call that waits for its input. */
  takesAnswer(request: FastifyRequest, reply: FastifyReply): boolean {
    const { body, bodyBytes } = request;
    const owner = ownerOfCall(body);
    if (!bodyBytes || !this.isElsewhere(owner, request)) return false;
    const id = (isJsonObject(body) ? idIn(body, 'id') : undefined) ?? null;
    void this.passTo(owner, request, reply, { gone: [200, callNotFound], id, body: bodyBytes });
    return true;
  }

  private isElsewhere(owner: string | undefined, request: FastifyRequest): owner is string {
    if (owner === undefined || !this.peers.isClustered || request.passedBy) return false;
    return owner !== this.peers.self;
  }

  private async passTo(
    ownerId: string,
    request: FastifyRequest,
    reply: FastifyReply,
    { body, ...refusal }: Refusal & { readonly body?: Buffer },
  ): Promise<void> {
    // The answer is written by the owner, or by `refuse`.
    reply.hijack();
    const { principal, id: requestId } = request;
    const owner = await this.peers.find(ownerId);
    if (!owner || !principal) return refuse(request, reply, 'gone', refusal);
    const sender = { principal, ip: actorOf(request).ip, requestId };
    const exchange = {
      request: request.raw,
      response: reply.raw,
      sender,
      callerToken: this.tokenFor(principal),
      isOver: () => principal.isExpired?.() === true || principal.isGranted?.() === false,
      ...(body && { body }),
    };
    this.passing.pass(owner, exchange, (failure) => refuse(request, reply, failure, refusal));
  }

  /** The owner may have to exchange it for a token of a server. */
  private tokenFor({ subject }: Principal): string | undefined {
    const token = subject === undefined ? undefined : this.tokens.sealed(subject);
    return token !== undefined && this.isExchanged() ? token : undefined;
  }

  /** Whether there is a server that takes exchanged tokens; decided once for each state of the catalogue. */
  private isExchanged(): boolean {
    const { current } = this.catalogue;
    if (this.exchanged?.in !== current) {
      const servers = [...current.servers.values()];
      const is = servers.some(({ credentials }) => credentials === 'exchange');
      this.exchanged = { in: current, is };
    }
    return this.exchanged.is;
  }
}

interface Refusal {
  readonly id: RpcId | null;
  /** Of a request whose owner is gone. */
  readonly gone: readonly [status: number, error: RpcErrorBody];
}

/** What was sent to a replica before it was gone may have been carried out (contract R46). */
const unanswered: RpcErrorBody = {
  code: rpcCode.serverError,
  message:
    'The replica that keeps this session or call did not answer. The request may have been carried out: do not repeat it blindly.',
  data: { error_code: 'SERVICE_UNAVAILABLE', outcome: 'unknown' },
};

function refuse(
  request: FastifyRequest,
  reply: FastifyReply,
  failure: PassFailure,
  { id, gone }: Refusal,
): void {
  const { raw } = reply;
  if (raw.headersSent || raw.destroyed) return;
  const [status, error] = failure === 'gone' ? gone : [502, unanswered];
  const body = messageText({ jsonrpc: '2.0', id, error });
  raw.writeHead(status, {
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
