import { jest } from '@jest/globals';
import { ConnectionShare, type Work } from './connection-share.js';

const read = (table?: string): Work => ({ table, isTransaction: false });
const write = (table: string): Work => ({ table, isTransaction: true });

describe(ConnectionShare.name, () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  /** Which of these get a connection at once, and how to give them back. */
  async function enter(share: ConnectionShare, ...work: Work[]) {
    const entered: (() => void)[] = [];
    const failures: unknown[] = [];
    for (const one of work) {
      share.enter(one, 1_000).then(
        (leave) => entered.push(leave),
        (error: unknown) => failures.push(error),
      );
    }
    await turn();
    return { entered, failures };
  }
  const turn = (): Promise<void> => jest.advanceTimersByTimeAsync(0).then(() => undefined);
  const many = (work: Work): Work[] => Array.from({ length: 20 }, () => work);

  it('gives work on one table less than half of the connections', async () => {
    const share = new ConnectionShare(7);
    expect((await enter(share, ...many(read('servers')))).entered).toHaveLength(3);
    expect((await enter(share, ...many(read('skills')))).entered).toHaveLength(3);
    expect((await enter(share, ...many(read('rules')))).entered).toHaveLength(1);
  });

  it('leaves a connection for other tables when all writes and reads of one table wait', async () => {
    const share = new ConnectionShare(7);
    await enter(share, ...['a', 'b', 'c', 'd'].map(write), ...many(read('locked')));
    expect((await enter(share, read('other'))).entered).toHaveLength(1);
  });

  it.each([1, 2, 3])('admits work with %i connections', async (connections) => {
    const share = new ConnectionShare(connections);
    expect((await enter(share, write('servers'))).entered).toHaveLength(1);
  });

  it('gives a free connection to the first work that may use it', async () => {
    const share = new ConnectionShare(3);
    const [first] = (await enter(share, read('a'))).entered;
    const [second] = (await enter(share, read('b'))).entered;
    const [third] = (await enter(share, read('c'))).entered;
    const sameTable = await enter(share, read('b'));
    const other = await enter(share, read());
    first?.();
    await turn();
    expect([sameTable.entered.length, other.entered.length]).toEqual([0, 1]);
    second?.();
    third?.();
    await turn();
    expect(sameTable.entered).toHaveLength(1);
  });

  it('counts a connection that is returned twice once', async () => {
    const share = new ConnectionShare(1);
    const [leave] = (await enter(share, read('a'))).entered;
    leave?.();
    leave?.();
    expect((await enter(share, read('a'), read('a'))).entered).toHaveLength(1);
  });

  it('ends the wait at its deadline, and says why there was no connection', async () => {
    const share = new ConnectionShare(3);
    await enter(share, read('a'));
    const table = await enter(share, read('a'));
    await jest.advanceTimersByTimeAsync(1_000);
    expect(table.failures).toEqual([expect.objectContaining({ trouble: 'slow' })]);
    await enter(share, read('b'), read('c'));
    const all = await enter(share, read('d'));
    await jest.advanceTimersByTimeAsync(1_000);
    expect(all.failures).toEqual([expect.objectContaining({ trouble: 'busy' })]);
  });

  it('removes work that no longer waits', async () => {
    const share = new ConnectionShare(1);
    const [leave] = (await enter(share, read('a'))).entered;
    await enter(share, read('a'));
    await jest.advanceTimersByTimeAsync(1_000);
    const later = await enter(share, read('a'));
    leave?.();
    await turn();
    expect(later.entered).toHaveLength(1);
  });
});
