import { OpenStreams } from './open-streams.js';

describe(OpenStreams.name, () => {
  let streams: OpenStreams;
  let sent: () => void;
  let fail: (error: Error) => void;
  let cancelled: number;
  let cancel: () => void;
  let ended: number[];

  beforeEach(() => {
    streams = new OpenStreams();
    cancelled = 0;
    ended = [];
  });

  function open(id: number, endsWhenSent = false): void {
    const stream = {
      send: () =>
        new Promise<void>((resolve, reject) => {
          sent = resolve;
          fail = reject;
        }),
      endsWhenSent,
      cancel: () => cancelled++,
    };
    void streams.open(id, stream, (given) => (cancel = given)).then(() => ended.push(id));
  }
  const settled = (): Promise<void> => new Promise(setImmediate);

  it('stay open once their requests are sent', async () => {
    open(1);
    sent();
    await settled();
    expect([ended, streams.has(1), streams.size]).toEqual([[], true, 1]);
  });

  it('end with their exchange, where they have one', async () => {
    open(1, true);
    sent();
    await settled();
    expect([ended, streams.has(1), streams.size]).toEqual([[1], false, 0]);
  });

  it('end when they cannot be sent', async () => {
    open(1);
    fail(new Error('closed'));
    await settled();
    expect([ended, cancelled]).toEqual([[1], 0]);
  });

  it('end with an answer, and no others', async () => {
    open(1);
    open(2);
    streams.end(1);
    streams.end(7);
    await settled();
    expect([ended, streams.size]).toEqual([[1], 1]);
  });

  it('end when they are cancelled', async () => {
    open(1);
    cancel();
    await settled();
    expect([ended, cancelled, streams.size]).toEqual([[1], 1, 0]);
  });

  it('end all together', async () => {
    open(1);
    open(2);
    streams.endAll();
    await settled();
    expect([ended, streams.size, cancelled]).toEqual([[1, 2], 0, 0]);
  });
});
