import { Logger } from '@nestjs/common';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { Coalescer } from './coalescer.js';

const limits = { firstMs: 100, maxMs: 400, maxKeys: 3 };

function started(): { clock: FakeClock; coalescer: Coalescer; done: string[] } {
  const clock = new FakeClock();
  return { clock, coalescer: new Coalescer(clock, limits), done: [] };
}

describe(Coalescer.name, () => {
  it('acts on the first request at once and on the last one of a burst after the interval', async () => {
    const { clock, coalescer, done } = started();
    for (let i = 0; i < 1_000; i++) coalescer.run('a', () => done.push(`a${i}`));
    expect(done).toEqual(['a0']);
    await clock.advance(100);
    expect(done).toEqual(['a0', 'a999']);
  });

  it('lengthens the interval up to its limit while requests keep coming', async () => {
    const { clock, coalescer, done } = started();
    for (let ms = 0; ms < 2_000; ms += 10) {
      coalescer.run('a', () => done.push('a'));
      await clock.advance(10);
    }
    // At 0, 100, 300, 700, 1100, 1500 and 1900 ms.
    expect(done).toHaveLength(7);
  });

  it('starts again with the first interval after a silent one', async () => {
    const { clock, coalescer, done } = started();
    coalescer.run('a', () => done.push('first'));
    coalescer.run('a', () => done.push('second'));
    await clock.advance(1_000);
    coalescer.run('a', () => done.push('third'));
    expect(done).toEqual(['first', 'second', 'third']);
    expect(clock.nextWakeMs).toBe(100);
  });

  it('keeps keys apart', async () => {
    const { clock, coalescer, done } = started();
    coalescer.run('a', () => done.push('a'));
    coalescer.run('b', () => done.push('b'));
    expect(done).toEqual(['a', 'b']);
    await clock.advance(100);
    expect(clock.nextWakeMs).toBeUndefined();
  });

  it('acts at once on keys over the limit instead of tracking them', () => {
    const { coalescer, done } = started();
    for (const key of ['a', 'b', 'c', 'd', 'd']) coalescer.run(key, () => done.push(key));
    expect(done).toEqual(['a', 'b', 'c', 'd', 'd']);
  });

  it('continues after an action that throws', async () => {
    Logger.overrideLogger(false);
    const { clock, coalescer, done } = started();
    const fail = (): void => {
      throw new Error('planned');
    };
    coalescer.run('a', fail);
    coalescer.run('a', fail);
    await clock.advance(100);
    coalescer.run('a', () => done.push('a'));
    await clock.advance(200);
    expect(done).toEqual(['a']);
  });
});
