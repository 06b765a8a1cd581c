import { ActivityFeed, EventStreams } from '@app/activity';
import { drainCalls } from '../../apps/aggregator/src/http/drain-calls.js';
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { readEvents } from '../support/event-reader.js';

const REASON = 'x'.repeat(900);

describe('a client of the event stream that does not read', () => {
  let service: TestApp;
  let feed: ActivityFeed;
  const listen = () => readEvents(service, '?topics=server');
  beforeEach(async () => {
    service = await startApp({ MCP_AGGREGATOR_WRITE_TIMEOUT: '600' });
    feed = service.app.get(ActivityFeed, { strict: false });
  });
  afterEach(() => service.close());

  it('holds up no one, is told once how many events it lost, and continues', async () => {
    const [stuck, healthy] = [await listen(), await listen()];
    stuck.pause();
    // More than the buffers of a connection on loopback, which may take megabytes.
    const EVENTS = 20_000;
    for (let n = 1; n <= EVENTS; n++) {
      void feed.tell({ topic: 'server', data: { change: 'updated', n, reason: REASON } });
      if (n % 200 === 0) await eventually(() => expect(healthy.events.at(-1)?.data['n']).toBe(n));
    }
    expect(healthy.of('gap')).toEqual([]);
    stuck.resume();
    await eventually(() => expect(stuck.of('gap')).toHaveLength(1));
    const lost = Number(stuck.of('gap')[0]?.data['lost']);
    await eventually(() => expect(stuck.of('server')).toHaveLength(EVENTS - lost));
    expect(lost).toBeGreaterThan(0);
    expect(stuck.events.at(-1)?.topic).toBe('gap');
    await feed.tell({ topic: 'server', data: { n: 'after' } });
    await eventually(() => expect(stuck.events.at(-1)?.data['n']).toBe('after'));
    stuck.close();
    healthy.close();
  });

  it('and one that does are closed at once when the service drains', async () => {
    const [stuck, healthy] = [await listen(), await listen()];
    stuck.pause();
    await drainCalls(service.app, 60_000);
    await eventually(() => expect(healthy.isEnded).toBe(true));
    stuck.resume();
    await eventually(() => expect(stuck.isEnded).toBe(true));
    await eventually(() => expect(service.app.get(EventStreams, { strict: false }).size).toBe(0));
  });
});
