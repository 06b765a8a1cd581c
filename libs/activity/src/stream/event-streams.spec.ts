import type { Principal, StillAdmitted } from '@app/access';
import { ClientLimits, Clock, type PeerRequests, type Peers } from '@app/platform';
import type { Permissions } from '@app/policy';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { EventEmitter } from 'node:events';
import { ActivityFeed } from '../feed/activity-feed.js';
import { EventCursor } from './event-cursor.js';
import { EventStreams } from './event-streams.js';

const clock = new Clock();
const peers = {
  self: '3f2a9c1b-0000-4000-8000-000000000000',
  isClustered: false,
  others: [{}],
} as unknown as Peers;
const principal: Principal = { name: 'ada', scopes: ['read'], subjects: [] };

class Response extends EventEmitter {
  readonly frames: string[] = [];
  destroyed = false;
  isEnded = false;
  writeHead(): void {}
  write(frame: string): boolean {
    this.frames.push(frame);
    return true;
  }
  end(): void {
    this.isEnded = true;
  }
}

describe(EventStreams.name, () => {
  let feed: ActivityFeed;
  let streams: EventStreams;
  let admitted: Principal | undefined;
  beforeEach(() => {
    admitted = principal;
    feed = new ActivityFeed(clock, peers);
    streams = new EventStreams(
      feed,
      { find: () => Promise.resolve(admitted) } as unknown as StillAdmitted,
      { seesAll: () => true } as unknown as Permissions,
      { note: () => undefined } as unknown as ClientLimits,
      peers,
      {} as PeerRequests,
      clock,
    );
  });
  afterEach(() => streams.endAll());

  function begin({ isSocketGone = false, isResponseGone = false, isPassed = false } = {}) {
    const raw = new Response();
    raw.destroyed = isResponseGone;
    const request = {
      id: 'r',
      raw: { socket: { destroyed: isSocketGone } },
      passedBy: isPassed ? { ip: null } : undefined,
    } as unknown as FastifyRequest;
    const reply = {
      raw,
      request,
      hijack: () => undefined,
      getHeaders: () => ({}),
    } as unknown as FastifyReply;
    const filter = { topics: new Set(['call'] as const), serverIds: undefined, isAdmin: false };
    streams.begin({ request, reply, principal, filter, cursor: new EventCursor() });
    return raw;
  }

  it.each([{ isSocketGone: true }, { isResponseGone: true }])(
    'keep nothing of a client that left while it was admitted: %o',
    (gone) => {
      const raw = begin(gone);
      expect([streams.size, feed.isHeard('call'), raw.frames]).toEqual([0, false, []]);
    },
  );

  it('give the place of a client back when it leaves, and when it may not listen any more', async () => {
    const first = begin();
    begin();
    expect([streams.size, feed.isHeard('call')]).toEqual([2, true]);
    first.emit('close');
    expect(streams.size).toBe(1);
    admitted = undefined;
    await streams.endUnadmitted();
    expect([streams.size, feed.isHeard('call')]).toEqual([0, false]);
  });

  it('of clients of other replicas take no place of those of this one', () => {
    for (let n = 0; n < 128; n++) begin({ isPassed: true });
    expect(() => begin({ isPassed: true })).toThrow('event streams');
    for (let n = 0; n < 128; n++) begin();
    expect(() => begin()).toThrow('event streams');
    expect(streams.size).toBe(256);
  });
});
