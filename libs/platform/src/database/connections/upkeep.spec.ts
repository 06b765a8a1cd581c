import { settle } from '../../../../../test/support/fake-clock.js';
import { Upkeep } from './upkeep.js';

describe(Upkeep, () => {
  it('begins a comparison when the one before has ended, also if it failed', async () => {
    const upkeep = new Upkeep();
    const ends: (() => void)[] = [];
    const waits = () => new Promise<void>((resolve) => ends.push(resolve));
    const first = upkeep.run(waits);
    const failed = upkeep.run(() => Promise.reject(new Error('the database is gone')));
    const second = upkeep.run(waits);
    await settle();
    expect(ends).toHaveLength(1);
    ends[0]?.();
    await first;
    await expect(failed).rejects.toThrow('the database is gone');
    await settle();
    expect(ends).toHaveLength(2);
    ends[1]?.();
    await second;
  });
});
