import { settle } from '../../../test/support/fake-clock.js';
import { Turnstile } from './turnstile.js';

describe(Turnstile.name, () => {
  it('lets so many in at the same time and the others in the order they came', async () => {
    const turnstile = new Turnstile(2);
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

  it('a failure frees its place', async () => {
    const turnstile = new Turnstile(1);
    await expect(turnstile.pass(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await expect(turnstile.pass(() => Promise.resolve('yes'))).resolves.toBe('yes');
  });
});
