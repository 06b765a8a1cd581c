import { Cancellation } from './cancellation.js';
import { atOnce, inSlices, type Sliced } from './slices.js';

/** Runs for `ms` in steps of one millisecond. */
function* busy(ms: number, log: string[] = [], name = ''): Sliced<string> {
  for (let i = 0; i < ms; i++) {
    const until = performance.now() + 1;
    while (performance.now() < until);
    log.push(name);
    yield;
  }
  return `done ${name}`;
}

describe(inSlices.name, () => {
  it('yields to the event loop', async () => {
    let turns = 0;
    const ticker = setInterval(() => turns++, 1);
    await expect(inSlices(busy(100))).resolves.toBe('done ');
    clearInterval(ticker);
    expect(turns).toBeGreaterThanOrEqual(3);
  });

  it('shares one slice among all works', async () => {
    const log: string[] = [];
    let most = 0;
    let seen = 0;
    const watch = (): void => {
      most = Math.max(most, log.length - seen);
      seen = log.length;
      if (seen < 10 * 20) setImmediate(watch);
    };
    setImmediate(watch);
    const names = Array.from({ length: 10 }, (_, i) => String(i));
    await Promise.all(names.map((name) => inSlices(busy(20, log, name))));
    // Steps of a millisecond between two turns of the event loop: 10 by the slice, the rest is slack.
    expect(most).toBeLessThan(40);
  });

  it('alternates between works', async () => {
    const log: string[] = [];
    await Promise.all([inSlices(busy(60, log, 'a')), inSlices(busy(60, log, 'b'))]);
    expect(log.indexOf('b')).toBeLessThan(log.lastIndexOf('a'));
  });

  it('rejects with the error of the work', async () => {
    const failing = function* (): Sliced<never> {
      yield;
      throw new Error('broken');
    };
    await expect(inSlices(failing())).rejects.toThrow('broken');
    await expect(inSlices(busy(1))).resolves.toBe('done ');
  });

  it('stops when it is cancelled', async () => {
    const log: string[] = [];
    const cancellation = new Cancellation();
    const work = inSlices(busy(1_000, log), cancellation);
    setImmediate(() => cancellation.abort(new Error('the client went away')));
    await expect(work).rejects.toThrow('the client went away');
    expect(log.length).toBeLessThan(200);
  });
});

describe(atOnce.name, () => {
  it('gives the same result', () => {
    expect(atOnce(busy(2))).toBe('done ');
  });
});
