import { BrokenDatabase } from '../../../../test/support/database-faults.js';
import { eventually } from '../../../../test/support/eventually.js';
import { FaultProxy } from '../../../../test/support/fault-proxy.js';
import { createDatabase } from '../../../../test/support/postgres.js';
import { connectionBudget } from './connections/connection-budget.js';
import { Database } from './database.js';
import { DatabaseUnavailable } from './failures/database.errors.js';
import { GuardedDataSource } from './guarded-data-source.js';

describe(GuardedDataSource.name, () => {
  let proxy: FaultProxy;
  let broken: BrokenDatabase;
  let source: GuardedDataSource;
  let database: Database;
  let time = 0;
  beforeAll(async () => {
    const url = await createDatabase();
    proxy = await FaultProxy.before(url);
    broken = await BrokenDatabase.of(url, proxy);
    source = new GuardedDataSource({
      type: 'postgres',
      url: proxy.urlOf(url),
      connectTimeoutMS: 60_000,
      guard: { budget: connectionBudget(14, 2_000, 2_000), isRemote: true, now: () => time },
    });
    await source.initialize();
    database = new Database(source);
    await source.query('CREATE TABLE notes (text text)');
  });
  afterAll(async () => {
    proxy.fault = {};
    await source.destroy();
    await broken.close();
    await proxy.close();
  });
  const failureOf = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => 'it succeeded',
      (error: unknown) => error,
    );
  const mend = async (): Promise<void> => {
    proxy.fault = {};
    await eventually(async () => {
      time += 10_000;
      expect(await failureOf(source.query('SELECT 1'))).toBe('it succeeded');
    });
  };

  it('reports an unknown outcome when a commit is not acknowledged', async () => {
    const write = database.transaction(async (tx) => {
      await tx.query(`INSERT INTO notes VALUES ('in doubt')`);
      proxy.fault = { passBytes: 0, then: 'reset' };
    });
    expect(await failureOf(write)).toMatchObject({
      context: { reason: 'unreachable', outcome: 'unknown' },
      message: expect.stringMatching(/may have been made/),
    });
    await mend();
    expect(await source.query('SELECT text FROM notes')).toEqual([{ text: 'in doubt' }]);
  });

  it('reports a failed change when the commit was never sent', async () => {
    const write = database.transaction(async (tx) => {
      await tx.query(`INSERT INTO notes VALUES ('undone')`);
      proxy.breakAll();
      await new Promise((resolve) => setImmediate(resolve));
      await tx.query(`INSERT INTO notes VALUES ('undone')`);
    });
    const failure = await failureOf(write);
    expect(failure).toBeInstanceOf(DatabaseUnavailable);
    expect(failure).not.toMatchObject({ context: { outcome: 'unknown' } });
    await mend();
    expect(await source.query(`SELECT text FROM notes WHERE text = 'undone'`)).toEqual([]);
  });

  it('closes an unresponsive connection at the deadline', async () => {
    proxy.fault = { blackhole: true };
    expect(await failureOf(source.query('SELECT 1'))).toMatchObject({ trouble: 'slow' });
    await mend();
    expect(await source.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('probes an unreachable database once per second, whatever the load', async () => {
    let attempts = 0;
    proxy.fault = {
      get refuse() {
        attempts++;
        return true;
      },
    };
    proxy.breakAll();
    await failureOf(source.query('SELECT 1'));
    await failureOf(source.query('SELECT 1'));
    const before = attempts;
    const flood = Array.from({ length: 100 }, () => failureOf(source.query('SELECT 1')));
    for (const failure of await Promise.all(flood)) {
      expect(failure).toMatchObject({ trouble: 'unreachable' });
    }
    expect(attempts).toBe(before);
    time += 1_000;
    await Promise.all(Array.from({ length: 100 }, () => failureOf(source.query('SELECT 1'))));
    // The proxy counts an attempt when it accepts it, which may be after the client gave it up.
    await eventually(() => expect(attempts).toBe(before + 1));
    await mend();
  });
});
