import { settle } from '../../../../test/support/fake-clock.js';
import { ConcurrencyLimit } from './concurrency-limit.js';

describe(ConcurrencyLimit.name, () => {
  it('runs up to the limit at the same time and the rest in order of arrival', async () => {
    const turnstile = new ConcurrencyLimit(2);
    const began: number[] = [];
    const ends: (() => void)[] = [];
    const all = [0, 1, 2, 3].map((i) =>
      turnstile.pass(async () => {
        began.push(i);
        await new Promise<void>((resolve) => {
          ends[i] = resolve;
        });
        return i;
      }),
    );
    await settle();
    expect(began).toEqual([0, 1]);
    ends[1]?.();
    await settle();
    expect(began).toEqual([0, 1, 2]);
    ends[0]?.();
    ends[2]?.();
    await settle();
    ends[3]?.();
    await expect(Promise.all(all)).resolves.toEqual([0, 1, 2, 3]);
  });

  it('releases its slot on failure', async () => {
    const turnstile = new ConcurrencyLimit(1);
    await expect(turnstile.pass(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await expect(turnstile.pass(() => Promise.resolve('yes'))).resolves.toBe('yes');
  });
});
