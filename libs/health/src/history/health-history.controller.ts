import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiBearerAuth, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { actorOf, RequireScope } from '@app/access';
import { ApiErrors, Clock, PassingOn, Peers } from '@app/platform';
import { GetServer, ServerHistory, ServerIdPipe } from '@app/registry';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { healthHistory } from './health-history.js';
import {
  HealthHistoryQuery,
  HealthHistoryView,
  toHealthHistoryView,
  windowMs,
} from './health-history.dto.js';
import { ProbeHistory } from './probe-history.js';

@ApiTags('servers')
@ApiBearerAuth()
@Controller('api/v1/aggregator/servers/:id/health/history')
export class HealthHistoryController {
  constructor(
    private readonly queries: QueryBus,
    private readonly probes: ProbeHistory,
    private readonly clock: Clock,
    private readonly peers: Peers,
    private readonly passing: PassingOn,
  ) {}

  /** The replica that leads checks the servers, so it knows how long the checks took; all know the statuses. */
  @Get()
  @RequireScope('read')
  @ApiOperation({ summary: 'Statuses of a server over time, with reasons and latencies' })
  @ApiOkResponse({ type: HealthHistoryView })
  @ApiErrors(404, 422)
  async getServerHealthHistory(
    @Param('id', ServerIdPipe) id: string,
    @Query() { window }: HealthHistoryQuery,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const view = await this.history(id, windowMs(window));
    if (!this.passOn(request, reply, view)) await reply.send(view);
  }

  private async history(id: string, lengthMs: number): Promise<HealthHistoryView> {
    const [server, entries] = await Promise.all([
      this.queries.execute(new GetServer(id)),
      this.queries.execute(new ServerHistory(id)),
    ]);
    const to = this.clock.now().getTime();
    const from = to - lengthMs;
    const registeredAt = server.registeredAt.getTime();
    const history = healthHistory(entries, { from, to, registeredAt, status: server.status });
    return toHealthHistoryView(server, { from, to }, history, this.probes.between(id, from, to));
  }

  /** Whether another replica answers; if it does not after all, what is known here is the answer. */
  private passOn(request: FastifyRequest, reply: FastifyReply, known: HealthHistoryView): boolean {
    const { leader } = this.peers;
    const { principal, id: requestId } = request;
    if (!leader || !principal || request.passedBy) return false;
    const sender = { principal, ip: actorOf(request).ip, requestId };
    reply.hijack();
    this.passing.pass(leader, { request: request.raw, response: reply.raw, sender }, () => {
      reply.raw.writeHead(200, { 'content-type': 'application/json; charset=utf-8' });
      reply.raw.end(JSON.stringify(known));
    });
    return true;
  }
}
