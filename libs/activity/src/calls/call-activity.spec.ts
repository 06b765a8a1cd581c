import type { Clock, Peers } from '@app/platform';
import type { ActivityEvent } from '../feed/activity-event.js';
import { ActivityFeed } from '../feed/activity-feed.js';
import { CallDays } from '../stats/call-days.js';
import { CallHistory } from '../stats/call-history.js';
import { CallActivity } from './call-activity.js';

const clock = { now: () => new Date(0), monotonic: () => 0 } as Clock;
const peers = { self: '3f2a9c1b-0000-4000-8000-000000000000' } as unknown as Peers;
const route = { server: { id: 'a', name: 'garden' }, tool: { originalName: 'sow' } };
const actor = { name: 'ada' };

describe(CallActivity.name, () => {
  let feed: ActivityFeed;
  let history: CallHistory;
  let calls: CallActivity;
  beforeEach(() => {
    feed = new ActivityFeed(clock, peers);
    history = new CallHistory(clock, new CallDays());
    calls = new CallActivity(feed, history);
    calls.onModuleInit();
  });
  afterEach(() => calls.onModuleDestroy());

  const listen = () => {
    const heard: ActivityEvent[] = [];
    const stop = feed.listen({
      topics: new Set(['call']),
      serverIds: undefined,
      isAdmin: true,
      receive: (event) => heard.push(event),
    });
    return { heard, stop };
  };
  const call = (failure?: string): void => {
    const shown = calls.begin(route, { actor });
    calls.end({ route, actor, milliseconds: 3, isError: false, failure }, shown, 12);
  };

  it('counts calls without a listener, and tells of none', () => {
    call();
    call('EXECUTION_TIMEOUT');
    expect(history.counts).toEqual({ calls: 2, errors: 1 });
    expect(feed.lastSeq).toBe(0);
  });

  it('tells the start and the end of a call with one id', () => {
    const { heard } = listen();
    call('EXECUTION_TIMEOUT');
    const [start, end] = heard.map(
      ({ adminText }) => JSON.parse(adminText) as { data: { call_id: string } },
    );
    expect(start?.data).toMatchObject({ phase: 'start', tool: 'garden.sow', caller: 'ada' });
    expect(end?.data).toMatchObject({
      phase: 'end',
      outcome: 'failure',
      error_code: 'EXECUTION_TIMEOUT',
      duration_ms: 3,
    });
    expect(start?.data.call_id).toBe(end?.data.call_id);
  });

  it('tells of a hundred calls in a second, and counts all', () => {
    const { heard } = listen();
    for (let n = 0; n < 5_000; n++) call();
    expect(heard).toHaveLength(200);
    expect(history.counts.calls).toBe(5_000);
  });

  it('stops to tell when the last listener has left', () => {
    const { stop } = listen();
    call();
    stop();
    const before = feed.lastSeq;
    call();
    expect(feed.lastSeq).toBe(before);
  });
});
