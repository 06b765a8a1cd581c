import { jest } from '@jest/globals';
import { ResumedStreams } from './resumed-streams.js';
import type { UpstreamRequest } from '../upstream-request.js';

interface Attempt {
  /** What comes on the stream before it ends. */
  readonly event?: string;
  readonly retryMs?: number;
  readonly isStream?: boolean;
  readonly error?: Error;
  readonly isAnswered?: boolean;
}

describe(ResumedStreams.name, () => {
  let attempts: Attempt[];
  let opened: unknown[];
  let over: number;
  let isAwaited: boolean;
  let refusal: Error | undefined;
  let closing: AbortController;
  let resumed: ResumedStreams;

  beforeEach(() => {
    jest.useFakeTimers();
    attempts = [];
    opened = [];
    over = 0;
    isAwaited = true;
    refusal = undefined;
    closing = new AbortController();
    resumed = new ResumedStreams(
      {
        awaits: () => isAwaited,
        open: (...how) => {
          opened.push(how);
          const { event, retryMs, isStream = true, error, isAnswered } = attempts.shift() ?? {};
          if (isAnswered) isAwaited = false;
          return {
            done: error ? Promise.reject(error) : Promise.resolve(),
            lastEventId: event,
            retryMs,
            isStream,
          } as unknown as UpstreamRequest;
        },
        refuseUnlessResumable: () => {
          if (refusal) throw refusal;
        },
        over: () => over++,
      },
      closing.signal,
    );
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  const resume = (first: Partial<UpstreamRequest>): Promise<string> =>
    resumed.resume(7, first as UpstreamRequest).then(
      () => 'answered',
      (error: Error) => error.message,
    );
  const pass = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);
  const lost = expect.stringContaining('the stream ended before the answer') as string;

  it('resumes after the last event for the same principal, until the answer is there', async () => {
    attempts = [{ event: 'e2' }, {}, { isAnswered: true }];
    const outcome = resume({ lastEventId: 'e1', principal: 'ada' });
    expect([resumed.has(7), resumed.has(8)]).toEqual([true, false]);
    await pass(10_000);
    expect(await outcome).toBe('answered');
    expect(opened).toEqual([
      [7, 'e1', 'ada'],
      [7, 'e2', 'ada'],
      [7, 'e2', 'ada'],
    ]);
    expect([over, resumed.has(7)]).toEqual([3, false]);
  });

  it('does not resume a stream without an event id', async () => {
    expect(await resume({})).toEqual(lost);
    expect(opened).toEqual([]);
  });

  it('does not resume for an answer that is no longer awaited', async () => {
    isAwaited = false;
    expect(await resume({ lastEventId: 'e1' })).toBe('answered');
    isAwaited = true;
    const outcome = resume({ lastEventId: 'e1' });
    isAwaited = false;
    await pass(1_000);
    expect(await outcome).toBe('answered');
    expect(opened).toEqual([]);
  });

  it('gives up after five attempts without a new event', async () => {
    attempts = [{ event: 'e1' }, { event: 'e2' }];
    const outcome = resume({ lastEventId: 'e1' });
    await pass(100_000);
    expect(await outcome).toEqual(lost);
    expect([opened.length, over]).toEqual([7, 7]);
  });

  it('gives up when the server answers with no stream', async () => {
    attempts = [{ isStream: false }];
    const outcome = resume({ lastEventId: 'e1' });
    await pass(100_000);
    expect(await outcome).toEqual(lost);
    expect([opened.length, over]).toEqual([1, 1]);
  });

  it('resumes a stream that breaks, unless it cannot be resumed', async () => {
    attempts = [{ error: new Error('reset') }, { error: new Error('reset') }];
    const outcome = resume({ lastEventId: 'e1' });
    await pass(1_000);
    refusal = new Error('too large');
    await pass(1_000);
    expect(await outcome).toBe('too large');
    expect([opened.length, over, resumed.has(7)]).toEqual([2, 2, false]);
  });

  it('waits a second, or as long as the server said last', async () => {
    attempts = [{ retryMs: 200, event: 'e2' }, { event: 'e3' }, { event: 'e4', retryMs: 1 }];
    void resume({ lastEventId: 'e1' });
    const times: number[] = [];
    for (let ms = 0; ms < 2_000; ms += 50) {
      await pass(50);
      if (opened.length > times.length) times.push(ms + 50);
    }
    expect(times.slice(0, 4)).toEqual([1_000, 1_200, 1_400, 1_500]);
  });

  it('waits as long as the first stream said', async () => {
    void resume({ lastEventId: 'e1', retryMs: 300 });
    await pass(299);
    expect(opened).toEqual([]);
    await pass(1);
    expect(opened).toHaveLength(1);
  });
});
