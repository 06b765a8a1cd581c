import { Clock, type Peers } from '@app/platform';
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { ActivityTopic } from '../feed/activity-event.js';
import { ActivityFeed } from '../feed/activity-feed.js';
import { EventCursor } from './event-cursor.js';
import { ListenerStream } from './listener-stream.js';

const REPLICA = '3f2a9c1b';
const peers = { self: `${REPLICA}-0000-4000-8000-000000000000` } as unknown as Peers;

/** A client that takes so many frames before it has to be drained. */
class Client extends EventEmitter {
  readonly frames: string[] = [];
  takes = Infinity;
  writeHead(): void {}
  write(frame: string): boolean {
    this.frames.push(frame);
    return this.frames.length < this.takes;
  }
  end(): void {
    this.emit('close');
  }

  /** The numbers of the events, and "gap". */
  get events(): readonly unknown[] {
    return this.frames.flatMap((frame) => {
      const data = frame.split('\ndata: ')[1];
      if (data === undefined) return [];
      const { topic, data: about } = JSON.parse(data) as { topic: string; data: { n: number } };
      return [topic === 'gap' ? 'gap' : about.n];
    });
  }

  get position(): string {
    return this.frames.findLast((frame) => frame.startsWith('id: '))?.split(/[ \n]/)[1] ?? '';
  }
}

describe(ListenerStream.name, () => {
  let feed: ActivityFeed;
  beforeEach(() => {
    feed = new ActivityFeed(new Clock(), peers);
  });

  function connect(topics: ActivityTopic[], position = '', takes = Infinity): Client {
    const client = new Client();
    client.takes = takes;
    const filter = { topics: new Set(topics), serverIds: undefined, isAdmin: false };
    const cursor = EventCursor.read(position) ?? new EventCursor();
    const gap = (lost: number | null): string => JSON.stringify({ topic: 'gap', data: { lost } });
    const response = client as unknown as ServerResponse;
    new ListenerStream(response, feed, { headers: [], filter, cursor, gap });
    return client;
  }
  const tell = (topic: ActivityTopic, n: number): void => void feed.tell({ topic, data: { n } });
  const upTo = (last: number): number[] => Array.from({ length: last }, (_, n) => n + 1);

  it('replays all that is kept to a client that reads slowly, then tells what happened meanwhile', () => {
    for (const n of upTo(990)) tell('server', n);
    const client = connect(['server'], `${REPLICA}-0`, 5);
    tell('server', 991);
    expect(client.events).toHaveLength(4);
    for (let drains = 0; client.events.length < 991 && drains < 300; drains++) {
      client.takes = client.frames.length + 5;
      client.emit('drain');
    }
    expect(client.events).toEqual(upTo(991));
    client.takes = Infinity;
    client.emit('drain');
    tell('server', 992);
    expect(client.events.slice(-1)).toEqual([992]);
    expect(client.position).toBe(`${REPLICA}-992`);
  });

  it('tells of one gap when events that it has not read yet are no longer kept', () => {
    for (const n of upTo(1_000)) tell('server', n);
    const client = connect(['server', 'call'], `${REPLICA}-0`, 5);
    for (const n of upTo(2_000)) tell('server', 1_000 + n);
    client.takes = Infinity;
    client.emit('drain');
    expect(client.events.filter((event) => event === 'gap')).toHaveLength(1);
    expect(client.events.at(-1)).toBe(3_000);
  });

  it.each(['call', 'audit'] as const)(
    'tells a client that comes back that entries of %s may be missing, if no one listened meanwhile',
    (topic) => {
      const first = connect([topic]);
      tell(topic, 1);
      first.end();
      tell(topic, 2);
      expect(connect([topic], first.position).events).toEqual(['gap']);
    },
  );

  it('tells of no gap when another client has listened meanwhile, and of none of other topics', () => {
    const first = connect(['call', 'server']);
    const other = connect(['call']);
    const audit = connect(['audit']);
    tell('call', 1);
    first.end();
    audit.end();
    tell('call', 2);
    expect(connect(['call', 'server'], first.position).events).toEqual([2]);
    other.end();
    expect(connect(['server'], first.position).events).toEqual([]);
  });
});
