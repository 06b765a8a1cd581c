import { settle } from '../../../../test/support/fake-clock.js';
import { CoalescedRuns } from './coalesced-runs.js';

/** Runs that end when told to. */
function controlled() {
  const ends: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const runs = new CoalescedRuns();
  const work = (): Promise<void> =>
    new Promise((resolve, reject) => void ends.push({ resolve, reject }));
  return { ends, ask: (key = 'a') => runs.run(key, work) };
}

describe(CoalescedRuns.name, () => {
  it('answers all requests made during a run by one run after it', async () => {
    const { ends, ask } = controlled();
    const first = ask();
    const later = [ask(), ask(), ask()];
    expect(ends).toHaveLength(1);
    ends[0]?.resolve();
    await first;
    await settle();
    expect(ends).toHaveLength(2);
    ends[1]?.resolve();
    await Promise.all(later);
    await settle();
    expect(ends).toHaveLength(2);
  });

  it('lets a request made during the second run wait for a third', async () => {
    const { ends, ask } = controlled();
    void ask();
    const second = ask();
    ends[0]?.resolve();
    await settle();
    const third = ask();
    ends[1]?.resolve();
    await second;
    await settle();
    expect(ends).toHaveLength(3);
    ends[2]?.resolve();
    await third;
  });

  it('continues after a failed run, and rejects only the requests of that run', async () => {
    const { ends, ask } = controlled();
    const first = ask();
    const second = ask();
    ends[0]?.reject(new Error('planned'));
    await expect(first).rejects.toThrow('planned');
    await settle();
    ends[1]?.resolve();
    await second;
  });

  it('runs keys independently', () => {
    const { ends, ask } = controlled();
    void ask('a');
    void ask('b');
    expect(ends).toHaveLength(2);
  });
});
