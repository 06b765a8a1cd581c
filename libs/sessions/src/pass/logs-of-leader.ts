import { Injectable } from '@nestjs/common';
import { actorOf } from '@app/access';
import { AppError, errorAnswer, PassingOn } from '@app/platform';
import type { Server } from '@app/registry';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { StdioPlace } from './stdio-place.js';

/** The log of a process is at the replica that runs it. */
@Injectable()
export class LogsOfLeader {
  constructor(
    private readonly place: StdioPlace,
    private readonly passing: PassingOn,
  ) {}

  /** Whether the request is answered by another replica. */
  passOn(server: Server, request: FastifyRequest, reply: FastifyReply): boolean {
    const leader = this.place.logsAt(server);
    const { principal, id: requestId } = request;
    if (!leader || !principal || request.passedBy) return false;
    const sender = { principal, ip: actorOf(request).ip, requestId };
    reply.hijack();
    this.passing.pass(leader, { request: request.raw, response: reply.raw, sender }, () => {
      const { status, body } = errorAnswer(new LeaderSilent());
      reply.raw.writeHead(status, { 'content-type': 'application/json', 'retry-after': '5' });
      reply.raw.end(JSON.stringify(body));
    });
    return true;
  }
}

class LeaderSilent extends AppError {
  constructor() {
    super('The replica that runs this server does not answer. Try again in a moment', {
      kind: 'unavailable',
      code: 'SERVICE_UNAVAILABLE',
      retryAfterSeconds: 5,
    });
  }
}
