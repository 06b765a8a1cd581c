import type { Clock, Peers } from '@app/platform';
import type { ActivityEvent, ActivityTopic } from './activity-event.js';
import { ActivityFeed, type StateEvent } from './activity-feed.js';

const clock = { now: () => new Date(0) } as Clock;
const peers = { self: '3f2a9c1b-0000-4000-8000-000000000000' } as unknown as Peers;

function listening(
  feed: ActivityFeed,
  topics: ActivityTopic[],
  serverIds?: string[],
  isAdmin = false,
) {
  const heard: ActivityEvent[] = [];
  const filter = { topics: new Set(topics), serverIds: serverIds && new Set(serverIds), isAdmin };
  const stop = feed.listen({ ...filter, receive: (event) => heard.push(event) });
  return { heard, stop, filter };
}

describe(ActivityFeed.name, () => {
  let feed: ActivityFeed;
  beforeEach(() => {
    feed = new ActivityFeed(clock, peers);
  });

  it('tells each listener of its topics and servers', () => {
    const all = listening(feed, ['server', 'call']);
    const one = listening(feed, ['server'], ['b']);
    void feed.tell({ topic: 'server', data: { n: 1 }, serverIds: ['a'] });
    void feed.tell({ topic: 'server', data: { n: 2 }, serverIds: ['b', 'c'] });
    void feed.tell({ topic: 'policy', data: { n: 3 } });
    expect(all.heard.map(({ seq }) => seq)).toEqual([1, 2]);
    expect(one.heard.map(({ seq }) => seq)).toEqual([2]);
    expect(JSON.parse(all.heard[0]?.text ?? '')).toEqual({
      id: '3f2a9c1b-1',
      at: '1970-01-01T00:00:00.000Z',
      topic: 'server',
      data: { n: 1 },
    });
  });

  it('names the caller only in the text for admins', () => {
    const { heard } = listening(feed, ['call']);
    void feed.tell({ topic: 'call', data: {}, caller: 'ada' });
    expect(heard[0]?.text).not.toContain('ada');
    expect(heard[0]?.adminText).toContain('"caller":"ada"');
  });

  it('keeps changes of state without a listener, and calls only with one', () => {
    void feed.tell({ topic: 'server', data: {} });
    void feed.tell({ topic: 'call', data: {} });
    const { filter, stop } = listening(feed, ['server', 'call', 'audit']);
    void feed.tell({ topic: 'call', data: {} });
    stop();
    void feed.tell({ topic: 'audit', data: {} });
    expect(feed.missed(filter, 0).events.map(({ topic }) => topic)).toEqual(['server', 'call']);
  });

  it('says when what was missed is no longer kept', () => {
    for (let n = 1; n <= 1_005; n++) void feed.tell({ topic: 'server', data: { n } });
    const { filter } = listening(feed, ['server']);
    const { events, lostUpTo } = feed.missed(filter, 5);
    expect([events.length, lostUpTo, events[0]?.seq]).toEqual([1_000, 5, 6]);
    expect(feed.missed(filter, 5, 10).events.map(({ seq }) => seq)).toEqual([
      6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
    ]);
    const { filter: other } = listening(feed, ['catalogue', 'call']);
    expect(feed.missed(other, 0)).toEqual({ events: [], lostUpTo: 0 });
  });

  it('does not let calls push changes of state out', () => {
    const { filter } = listening(feed, ['server', 'call']);
    void feed.tell({ topic: 'server', data: {} });
    for (let n = 1; n <= 2_000; n++) void feed.tell({ topic: 'call', data: { n } });
    expect(feed.missed(filter, 0).events[0]?.topic).toBe('server');
  });

  it('does not let sessions push other changes of state out', () => {
    const { filter } = listening(feed, ['server', 'session']);
    void feed.tell({ topic: 'server', data: {} });
    for (let n = 1; n <= 2_000; n++) void feed.tell({ topic: 'session', data: { n } });
    expect(feed.missed(filter, 0).events[0]?.topic).toBe('server');
  });

  it('knows from when on the calls and audit entries were heard by no one', () => {
    const calls = listening(feed, ['server', 'call', 'audit']);
    const second = listening(feed, ['call']);
    const position = feed.lastSeq;
    calls.stop();
    expect(feed.wasUnheard(second.filter, position)).toBe(false);
    expect(feed.wasUnheard(calls.filter, position)).toBe(true);
    expect(feed.wasUnheard(calls.filter, feed.lastSeq)).toBe(false);
    second.stop();
    expect(feed.wasUnheard(second.filter, position)).toBe(true);
    expect(feed.wasUnheard(listening(feed, ['server']).filter, 0)).toBe(false);
  });

  it('stores changes of state before it resolves, and nothing else', async () => {
    const stored: StateEvent[] = [];
    let finish = (): void => undefined;
    feed.storeWith((event) => {
      stored.push(event);
      return new Promise((resolve) => (finish = resolve));
    });
    listening(feed, ['call']);
    await feed.tell({ topic: 'call', data: {} });
    let isDone = false;
    const told = feed
      .tell({ topic: 'health', data: {}, serverIds: ['a'] })
      .then(() => (isDone = true));
    await Promise.resolve();
    expect([isDone, stored.length]).toEqual([false, 1]);
    finish();
    await told;
    expect(stored[0]).toMatchObject({ topic: 'health', serverIds: ['a'] });
  });

  it('cuts long texts and lists', () => {
    const { heard } = listening(feed, ['server']);
    void feed.tell({
      topic: 'server',
      data: { reason: 'x'.repeat(100_000), fields: Array(10_000).fill('y') },
    });
    expect(heard[0]?.text.length).toBeLessThan(2_000);
  });
});
