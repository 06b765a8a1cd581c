import { FakeClock } from '../../../../test/support/fake-clock.js';
import { Retries } from './retries.js';

describe(Retries.name, () => {
  let clock: FakeClock;
  let retries: Retries;
  let runs: number;

  beforeEach(() => {
    clock = new FakeClock();
    retries = new Retries(clock, (failures) => failures * 1_000);
    runs = 0;
  });

  const failing = (): Promise<void> => {
    runs++;
    retries.schedule('a', failing);
    return Promise.resolve();
  };

  it('waits longer after each failure in a row', async () => {
    expect(retries.schedule('a', failing)).toBe(1_000);
    const waits: (number | undefined)[] = [];
    for (let i = 0; i < 3; i++) {
      waits.push(clock.nextWakeMs);
      await clock.advance(clock.nextWakeMs ?? 0);
    }
    expect(waits).toEqual([1_000, 2_000, 3_000]);
    expect(runs).toBe(3);
  });

  it('forgets the failures once the work does not fail again', async () => {
    retries.schedule('a', () => Promise.resolve(runs++));
    await clock.advance(1_000);
    expect([runs, retries.isWaiting('a'), clock.nextWakeMs]).toEqual([1, false, undefined]);
    expect(retries.schedule('a', failing)).toBe(1_000);
  });

  it('keeps one wait for a key, that of its last failure', async () => {
    retries.schedule('a', failing);
    retries.schedule('a', () => Promise.resolve(runs++));
    await clock.advance(1_999);
    expect(runs).toBe(0);
    await clock.advance(1);
    expect([runs, clock.nextWakeMs]).toEqual([1, undefined]);
  });

  it('does not repeat what was cleared, or anything after a stop', async () => {
    retries.schedule('a', failing);
    retries.schedule('b', failing);
    retries.clear('a');
    expect([retries.isWaiting('a'), retries.isWaiting('b')]).toEqual([false, true]);
    retries.stop();
    retries.schedule('c', failing);
    await clock.advance(10_000);
    expect([runs, retries.isWaiting('c')]).toEqual([0, false]);
  });
});
