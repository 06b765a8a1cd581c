import { type Peer, type PeerRequests, type Peers } from '@app/platform';
import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { EventCursor } from './event-cursor.js';
import type { QueuedEvent } from './event-queue.js';
import type { ListenerStream } from './listener-stream.js';
import { PeerEvents } from './peer-events.js';

const PEER: Peer = { id: '77ab12cd-0000-4000-8000-000000000000', url: 'http://127.0.0.1:9' };
const OTHER: Peer = { ...PEER, id: '88ab12cd-0000-4000-8000-000000000000' };

interface Sent {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** With a connection, or without one. */
  readonly answer: (status: number) => PassThrough;
  readonly fail: () => void;
}

describe(PeerEvents.name, () => {
  let others: Peer[];
  let sent: Sent[];
  let passed: (QueuedEvent | 'gap')[];
  let sleeps: (() => void)[];
  let open: PeerEvents[];
  beforeEach(() => {
    [others, sent, passed, sleeps, open] = [[PEER], [], [], [], []];
  });
  afterEach(() => {
    for (const events of open) events.end();
  });

  function follow(position = '', serverIds?: string[]): PeerEvents {
    const cursor = EventCursor.read(position) ?? new EventCursor();
    const stream = {
      cursor,
      pass: (event: QueuedEvent) => passed.push(event),
      passGap: () => passed.push('gap'),
    } as unknown as ListenerStream;
    const requests = {
      send: (_to: Peer, { path, headers }: Pick<Sent, 'path' | 'headers'>) =>
        new Promise((resolve, reject) => {
          const answer = (statusCode: number): PassThrough => {
            const body = Object.assign(new PassThrough(), { statusCode });
            resolve(body);
            return body;
          };
          sent.push({ path, headers, answer, fail: () => reject(new Error('refused')) });
        }),
    };
    const cluster = {
      requests: requests as unknown as PeerRequests,
      peers: {
        get others() {
          return others;
        },
        get: (id: string) => others.find((one) => one.id === id),
      } as unknown as Peers,
      clock: { sleep: () => new Promise<void>((resolve) => sleeps.push(resolve)) } as never,
    };
    const filter = {
      topics: new Set(['server', 'call'] as const),
      serverIds: serverIds && new Set(serverIds),
      isAdmin: false,
    };
    const principal = { name: 'ada', scopes: ['read' as const], subjects: [] };
    const isContinued = position !== '';
    const events = new PeerEvents(stream, { filter, principal, isContinued }, cluster);
    open.push(events);
    return events;
  }
  const lastIdOf = (at: number): string | undefined => sent[at]?.headers['last-event-id'];
  async function again(): Promise<void> {
    await turn();
    sleeps.splice(0).forEach((wake) => wake());
    await turn();
  }

  it('tells of a gap when a replica cannot be asked at once, and again when it is heard', async () => {
    follow();
    sent[0]?.fail();
    await again();
    expect(passed).toEqual(['gap']);
    sent[1]?.answer(503).end();
    await again();
    expect(passed).toEqual(['gap']);
    const body = sent[2]?.answer(200);
    body?.write('id: 77ab12cd-5\ndata: {}\n\n');
    await turn();
    expect(passed).toEqual(['gap', 'gap', { replica: '77ab12cd', seq: 5, text: '{}' }]);
  });

  it('continues a broken connection after what was queued, although the client has not read it yet', async () => {
    follow();
    const body = sent[0]?.answer(200);
    body?.write('id: 77ab12cd-5\ndata: {}\n\nid: 77ab12cd-6\ndata: {}\n\n');
    body?.end();
    await again();
    expect(lastIdOf(0)).toBeUndefined();
    expect(lastIdOf(1)).toBe('77ab12cd-6');
    sent[1]?.fail();
    await again();
    expect(lastIdOf(2)).toBe('77ab12cd-6');
    expect(passed).toHaveLength(2);
  });

  it('asks a replica that has started since for everything', () => {
    follow('77ab12cd-5');
    others.push(OTHER);
    follow('77ab12cd-5');
    expect([lastIdOf(0), lastIdOf(1), lastIdOf(2)]).toEqual([
      '77ab12cd-5',
      '77ab12cd-5',
      '88ab12cd-0',
    ]);
    others.splice(1);
    const fresh = follow();
    others.push(OTHER);
    fresh.follow();
    expect([lastIdOf(3), lastIdOf(4)]).toEqual([undefined, '88ab12cd-0']);
  });

  it('asks by the ids of servers, so that a pass has room for fifty of them', () => {
    const ids = Array.from({ length: 50 }, (_, n) => `${10 + n}${PEER.id.slice(2)}`);
    follow('', ids);
    expect(sent[0]?.path).toBe(`/api/v1/events?topics=server,call&server=${ids.join(',')}`);
    expect(sent[0]?.path.length).toBeLessThan(2_000);
  });
});
