import { jest } from '@jest/globals';
import type { HttpAnswer } from '@app/http1';
import { StandingStream } from './standing-stream.js';
import type { UpstreamRequest } from '../upstream-request.js';

type Opened = Pick<UpstreamRequest, 'done' | 'lastEventId' | 'retryMs' | 'abort'> & {
  isStream: boolean;
  end(answer?: HttpAnswer): void;
  fail(): void;
};

const ANSWER: HttpAnswer = {
  status: 200,
  body: Buffer.alloc(0),
  challenge: undefined,
  advice: undefined,
};

describe(StandingStream.name, () => {
  let streams: Opened[];
  let openedWith: (string | undefined)[];
  let asked: unknown[];
  let aborted: number;
  let epoch: number;
  let mayOpenAgain: boolean;
  let closing: AbortController;
  let standing: StandingStream;

  beforeEach(() => {
    jest.useFakeTimers();
    jest.spyOn(Math, 'random').mockReturnValue(0.5);
    streams = [];
    openedWith = [];
    asked = [];
    aborted = 0;
    epoch = 1;
    mayOpenAgain = true;
    closing = new AbortController();
    standing = new StandingStream(
      {
        epoch: () => epoch,
        credentials: () => 'Bearer one',
        open: (lastEventId) => {
          openedWith.push(lastEventId);
          return open() as unknown as UpstreamRequest;
        },
        mayOpenAgain: (...asking) => {
          asked.push(asking);
          return Promise.resolve(mayOpenAgain);
        },
      },
      closing.signal,
    );
  });
  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  function open(): Opened {
    let end: (answer: HttpAnswer) => void = () => undefined;
    let fail: (error: Error) => void = () => undefined;
    const stream: Opened = {
      done: new Promise((resolve, reject) => {
        end = resolve;
        fail = reject;
      }),
      lastEventId: undefined,
      retryMs: undefined,
      isStream: true,
      abort: () => {
        aborted++;
        fail(new Error('aborted'));
      },
      end: (answer = ANSWER) => end(answer),
      fail: () => fail(new Error('broken')),
    };
    streams.push(stream);
    return stream;
  }
  const last = (): Opened => {
    const stream = streams.at(-1);
    if (!stream) throw new Error('No stream was opened');
    return stream;
  };
  const pass = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);
  /** How long it takes until the next stream is opened. */
  async function waited(): Promise<number> {
    const before = streams.length;
    let ms = -100;
    while (streams.length === before && ms < 100_000) {
      ms += 100;
      await pass(ms === 0 ? 0 : 100);
    }
    return ms;
  }

  it('opens one stream, also when it is started twice', () => {
    standing.start();
    standing.start();
    expect(openedWith).toEqual([undefined]);
  });

  it('opens another one after an end, and after a break', async () => {
    standing.start();
    last().end();
    expect(await waited()).toBeGreaterThanOrEqual(1_000);
    last().fail();
    expect(await waited()).toBeLessThanOrEqual(30_000);
    expect(asked).toEqual([
      [ANSWER, 'Bearer one', 1],
      [undefined, 'Bearer one', 1],
    ]);
  });

  it('waits longer after each stream without an event, up to a limit', async () => {
    standing.start();
    const waits: number[] = [];
    for (let i = 0; i < 8; i++) {
      last().end();
      waits.push(await waited());
    }
    expect(waits).toEqual(waits.toSorted((a, b) => a - b));
    expect(waits[5]).toBeGreaterThan(4 * (waits[0] ?? 0));
    expect(waits.at(-1)).toBeLessThanOrEqual(30_000);
  });

  it.each([
    ['had an event', true, 0, 'e1'],
    ['was open for ten seconds', true, 10_000, undefined],
  ])('waits as after the first one after a stream that %s', async (_, isStream, openMs, event) => {
    standing.start();
    last().end();
    const first = await waited();
    for (let i = 0; i < 5; i++) {
      last().end();
      await waited();
    }
    await pass(openMs);
    last().isStream = isStream;
    last().lastEventId = event;
    last().end();
    expect(await waited()).toBe(first);
  });

  it.each([
    ['no stream', false, 10_000, 'e1'],
    ['a short stream without an event', true, 9_900, undefined],
  ])('waits longer after %s', async (_, isStream, openMs, event) => {
    standing.start();
    last().end();
    const first = await waited();
    for (let i = 0; i < 5; i++) {
      last().end();
      await waited();
    }
    await pass(openMs);
    last().isStream = isStream;
    last().lastEventId = event;
    last().end();
    expect(await waited()).toBeGreaterThan(first);
  });

  it('waits as long as the server wants, up to a limit', async () => {
    standing.start();
    last().retryMs = 20_000;
    last().end();
    expect(await waited()).toBe(20_000);
    last().retryMs = 500_000;
    last().end();
    expect(await waited()).toBe(30_000);
  });

  it('resumes after the last event, in the same session', async () => {
    standing.start();
    last().lastEventId = 'e1';
    last().end();
    await waited();
    last().end();
    await waited();
    epoch = 2;
    last().lastEventId = 'e3';
    last().end();
    await waited();
    expect(openedWith).toEqual([undefined, 'e1', 'e1', undefined]);
  });

  it('does not try again after a refusal, until it is started again', async () => {
    mayOpenAgain = false;
    standing.start();
    last().end();
    await pass(60_000);
    expect(streams).toHaveLength(1);
    standing.start();
    expect(streams).toHaveLength(2);
  });

  it('aborts its stream when it is stopped, and opens no other one', async () => {
    standing.start();
    standing.stop();
    await pass(60_000);
    expect([aborted, streams.length, asked]).toEqual([1, 1, []]);
    standing.start();
    expect(streams).toHaveLength(2);
  });

  it('does not open another one when it is stopped while it waits', async () => {
    standing.start();
    last().end();
    await pass(10);
    standing.stop();
    await pass(60_000);
    expect([aborted, streams.length]).toEqual([0, 1]);
  });

  it('stays started when an earlier one ends late', async () => {
    standing.start();
    standing.stop();
    standing.start();
    await pass(0);
    standing.start();
    expect(streams).toHaveLength(2);
  });
});
