import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Catalogue } from '@app/catalogue';
import { type Caller, McpEndpoint } from '@app/mcp-server';
import {
  AppError,
  bodyLimits,
  isJsonObject,
  type JsonValue,
  Peers,
  PULSE_PATH,
  type PulseAnswer,
} from '@app/platform';
import { ServerNotFound } from '@app/registry';
import { CallSlots } from '@app/routing';
import {
  callerIn,
  levelWishIn,
  NotHere,
  PASSED_PATH,
  SessionPool,
  StdioPlace,
} from '@app/sessions';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { RequestForwarder } from '../forward/request-forwarder.js';
import { noticesIn, NOTICES_PATH, ReplicaNotices } from '../notify/replica-notices.js';
import { ResourceSubscriptions } from '../notify/resource-subscriptions.js';
import { ServerLogs } from '../notify/server-logs.js';
import { ServerNotifications } from '../notify/server-notifications.js';
import { PassedCalls } from './passed-calls.js';
import { PassedClients } from './passed-clients.js';
import { ReplicaSurface } from './replica.surface.js';

/** The servers that run here, for the other replicas; with the embedded database there are none. */
@Injectable()
export class ReplicaRoutes implements OnModuleInit {
  private readonly surfaces = new Map<string, ReplicaSurface>();
  private readonly clients: PassedClients;
  private readonly calls: PassedCalls;

  constructor(
    private readonly http: HttpAdapterHost,
    private readonly peers: Peers,
    private readonly endpoint: McpEndpoint,
    private readonly catalogue: Catalogue,
    private readonly sessions: SessionPool,
    private readonly forwarder: RequestForwarder,
    private readonly subscriptions: ResourceSubscriptions,
    private readonly notifications: ServerNotifications,
    private readonly slots: CallSlots,
    private readonly place: StdioPlace,
    private readonly logs: ServerLogs,
    notices: ReplicaNotices,
  ) {
    this.clients = new PassedClients(notices);
    peers.onGone((id) => this.logs.forgetReplica(id));
    this.calls = new PassedCalls(peers);
  }

  onModuleInit(): void {
    if (!this.peers.isClustered) return;
    const fastify: FastifyInstance = this.http.httpAdapter.getInstance();
    const config = { access: 'call', bodyLimit: bodyLimits.any } as const;
    fastify.post<{ Params: { id: string } }>(
      `${PASSED_PATH}:id`,
      { config },
      async (request, reply) => this.serve(request.params.id, request, reply),
    );
    fastify.get(PULSE_PATH, { config: { access: 'read' } }, (request, reply) => {
      if (!request.passedBy) throw new NotForClients();
      const answer: PulseAnswer = { leads: this.sessions.leads };
      return reply.send(answer);
    });
    fastify.post(NOTICES_PATH, { config }, (request, reply) => {
      if (!request.passedBy) throw new NotForClients();
      for (const { serverId, method, params, user } of noticesIn(request.body)) {
        this.notifications.receive(serverId, method, params, user);
      }
      return reply.status(202).send();
    });
  }

  forget(serverId: string): void {
    this.surfaces.delete(serverId);
  }

  private async serve(id: string, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (!request.passedBy) throw new ServerNotFound(id);
    if (isJsonObject(request.body) && request.body['method'] === 'notifications/cancelled') {
      this.cancel(request.body['params']);
      return reply.status(202).send();
    }
    if (!this.sessions.leads) throw new NotHere();
    const wish = levelWishIn(request.body);
    if (wish) {
      if (this.catalogue.current.servers.has(id)) await this.logs.wantElsewhere(id, wish);
      return reply.status(202).send();
    }
    return this.handle(id, request, reply);
  }

  private async handle(id: string, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { body } = request;
    const person = personOf(request);
    const isDiscovery = isJsonObject(body) && body['method'] === 'server/discover';
    // How their session describes the server is told to that person alone.
    const surface = isDiscovery && person ? this.newSurface(id) : this.surfaceOf(id);
    if (isDiscovery) await surface.ready(person);
    reply.hijack();
    const params = isJsonObject(body) ? body['params'] : undefined;
    const caller = isJsonObject(params) ? callerIn(params['_meta']) : undefined;
    const http = {
      request: request.raw,
      response: reply.raw,
      headers: ['x-request-id', request.id],
    };
    const subject = caller?.name ?? person?.subject ?? 'system';
    const sender = { name: subject, ip: null, subject, ...(person && { onBehalfOf: person }) };
    void this.endpoint.handle(surface, http, body, sender);
  }

  private cancel(params: JsonValue | undefined): void {
    const call = isJsonObject(params) ? params['requestId'] : undefined;
    if (typeof call === 'string') this.calls.cancel(call);
  }

  private surfaceOf(id: string): ReplicaSurface {
    if (!this.catalogue.current.servers.has(id)) throw new ServerNotFound(id);
    const surface = this.surfaces.get(id) ?? this.newSurface(id);
    this.surfaces.set(id, surface);
    return surface;
  }

  private newSurface(id: string): ReplicaSurface {
    const server = this.catalogue.current.servers.get(id);
    if (!server) throw new ServerNotFound(id);
    const { forwarder, subscriptions, notifications, clients, slots, calls, place } = this;
    return new ReplicaSurface(
      server,
      forwarder,
      subscriptions,
      notifications,
      clients,
      slots,
      calls,
      place,
    );
  }
}

/** For whose credentials the other replica asks. */
function personOf({ principal }: FastifyRequest): Caller | undefined {
  return principal?.subject === undefined
    ? undefined
    : { name: principal.name, subject: principal.subject, ip: null };
}

class NotForClients extends AppError {
  constructor() {
    super('Not found', { kind: 'not-found', code: 'NOT_FOUND' });
  }
}
