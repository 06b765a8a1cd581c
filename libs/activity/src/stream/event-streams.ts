import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { hasScope, type Principal, StillAdmitted } from '@app/access';
import { AppError, ClientLimits, Clock, isGone, PeerRequests, Peers, Shares } from '@app/platform';
import { Permissions } from '@app/policy';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ActivityFeed, type EventFilter } from '../feed/activity-feed.js';
import type { EventCursor } from './event-cursor.js';
import { ListenerStream } from './listener-stream.js';
import { PeerEvents } from './peer-events.js';

const TICK_MS = 1_000;
/** Of these ticks. */
const PING_EVERY = 15;
/** All clients together; when it is reached, each principal keeps its share. */
const MAX_STREAMS = 128;

interface OpenStream {
  readonly stream: ListenerStream;
  readonly peers: PeerEvents | undefined;
  readonly request: FastifyRequest;
  readonly principal: Principal;
}

export interface StreamOpening {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly principal: Principal;
  readonly filter: EventFilter;
  readonly cursor: EventCursor;
}

/** The open event streams of this process. */
@Injectable()
export class EventStreams implements BeforeApplicationShutdown {
  private readonly open = new Set<OpenStream>();
  private readonly owners = new Shares();
  private gaps = 0;
  private ticks = 0;
  /** Only while there are streams. */
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly feed: ActivityFeed,
    private readonly admitted: StillAdmitted,
    private readonly permissions: Permissions,
    private readonly limits: ClientLimits,
    private readonly peers: Peers,
    private readonly requests: PeerRequests,
    private readonly clock: Clock,
  ) {}

  get size(): number {
    return this.open.size;
  }

  /** Throws TooManyEventStreams. The reply leaves Fastify. */
  begin({ request, reply, principal, filter, cursor }: StreamOpening): void {
    // Its client left while it was admitted: there is no other 'close'.
    if (isGone(reply)) return void reply.hijack();
    this.refuseExcess(request, principal);
    reply.hijack();
    const isContinued = cursor.replicas.length > 0;
    const gap = (lost: number | null): string => this.gapOf(lost);
    const head = { headers: headersOf(request, reply), filter, cursor, gap };
    const stream = new ListenerStream(reply.raw, this.feed, head);
    const cluster = { peers: this.peers, requests: this.requests, clock: this.clock };
    const peers =
      this.peers.isClustered && !request.passedBy
        ? new PeerEvents(stream, { filter, principal, isContinued }, cluster)
        : undefined;
    const opened = { stream, peers, request, principal };
    this.open.add(opened);
    if (!request.passedBy) this.owners.add(principal.name);
    this.timer ??= setInterval(() => this.tick(), TICK_MS).unref();
    reply.raw.once('close', () => this.forget(opened));
  }

  /** Ends the streams whose token was revoked or has expired, or whose caller sees less now. */
  async endUnadmitted(): Promise<void> {
    for (const opened of [...this.open]) {
      const now = await this.admitted.find(opened.request);
      if (now && this.mayGoOn(opened, now)) continue;
      opened.stream.end();
      this.forget(opened);
    }
  }

  /** At once: their clients connect again elsewhere. */
  endAll(): void {
    for (const { stream } of this.open) stream.end();
  }

  /** Closing the listener waits for open responses. */
  beforeApplicationShutdown(): void {
    this.endAll();
  }

  /** Those of other replicas are bounded there, and take no place of this one's clients. */
  private refuseExcess(request: FastifyRequest, principal: Principal): void {
    const { total } = this.owners;
    const hasRoom = request.passedBy
      ? this.open.size - total < MAX_STREAMS * Math.max(1, this.peers.others.length)
      : this.owners.hasRoom(principal.name, MAX_STREAMS);
    if (hasRoom) return;
    this.limits.note('event_streams', principal.name);
    throw new TooManyEventStreams();
  }

  private forget(opened: OpenStream): void {
    opened.peers?.end();
    const isOwn = !opened.request.passedBy;
    if (this.open.delete(opened) && isOwn) this.owners.remove(opened.principal.name);
    if (this.open.size === 0) this.stopTicking();
  }

  private tick(): void {
    for (const { peers } of this.open) peers?.follow();
    if (++this.ticks % PING_EVERY !== 0) return;
    for (const { stream } of this.open) stream.ping();
    void this.endUnadmitted();
  }

  private stopTicking(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private mayGoOn({ stream, principal }: OpenStream, now: Principal): boolean {
    if (now.name !== principal.name || now.subject !== principal.subject || !hasScope(now, 'read'))
      return false;
    if (stream.isAdmin && !hasScope(now, 'admin')) return false;
    return this.permissions.seesAll(now);
  }

  private gapOf(lost: number | null): string {
    const id = `${this.feed.replica}-gap-${++this.gaps}`;
    return JSON.stringify({ id, at: this.clock.now().toISOString(), topic: 'gap', data: { lost } });
  }
}

class TooManyEventStreams extends AppError {
  constructor() {
    super(
      `All ${MAX_STREAMS} event streams of this service are in use; end others, or try again later`,
      { kind: 'overloaded', code: 'LIMIT_REACHED', retryAfterSeconds: 5 },
    );
  }
}

/** Browsers need the CORS headers that Fastify has set. */
function headersOf(request: FastifyRequest, reply: FastifyReply): readonly string[] {
  const set = Object.entries(reply.getHeaders()).map(([name, value]) => [name, String(value)]);
  return [...set.flat(), 'x-request-id', request.id];
}
