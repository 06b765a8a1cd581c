import pg from 'pg';
import { migrations } from '../../../../../migrations/index.js';
import { temporaryFolder, testEnv } from '../../../../../test/support/env.js';
import { eventually } from '../../../../../test/support/eventually.js';
import { createDatabase } from '../../../../../test/support/postgres.js';
import { Database } from '../database.js';
import { dataSourceOptions } from '../database.module.js';
import { EmbeddedDatabase } from '../embedded-database.js';
import { GuardedDataSource } from '../guarded-data-source.js';

/** Requests wait 2 s, all other work a minute. */
const LIMITS = { MCP_AGGREGATOR_DATABASE_WAIT: '2', MCP_AGGREGATOR_DATABASE_TIMEOUT: '60' };
const KEY = { MCP_CREDENTIAL_KEY: 'a-key-for-this-test-only' };

/** `pooler`: as behind a pooler in transaction mode, where limits of the connection are those of any client. */
describe.each(['directly', 'through a pooler'] as const)(
  'queries that go to PostgreSQL %s',
  (how) => {
    let admin: pg.Client;
    let source: GuardedDataSource;
    let database: Database;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;

    beforeAll(async () => {
      folder = await temporaryFolder();
      const url = await createDatabase();
      const direct: Record<string, string> = how === 'directly' ? {} : { DATABASE_DIRECT_URL: url };
      const env = testEnv(folder.path, { DATABASE_URL: url, ...direct, ...LIMITS, ...KEY });
      source = new GuardedDataSource(dataSourceOptions(env, new EmbeddedDatabase(), migrations));
      await source.initialize();
      database = new Database(source);
      admin = new pg.Client({ connectionString: url });
      await admin.connect();
      await admin.query(
        'CREATE SCHEMA mcp; CREATE TABLE mcp.notes (text text); CREATE TABLE mcp.others (text text)',
      );
    });
    afterAll(async () => {
      await source.destroy();
      await admin.end();
      await folder.remove();
    });

    const whileLocked = async (look: () => Promise<void>): Promise<void> => {
      await admin.query('BEGIN; LOCK TABLE mcp.notes IN ACCESS EXCLUSIVE MODE');
      try {
        await look();
      } finally {
        await admin.query('ROLLBACK');
      }
    };
    const waiting = async (): Promise<number> => {
      const { rows } = await admin.query<{ count: number }>(
        `SELECT count(*)::int FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return rows[0]?.count ?? 0;
    };
    const failure = (work: Promise<unknown>): Promise<unknown> =>
      work.then(
        () => 'it succeeded',
        (error: unknown) => error,
      );
    const slow = expect.objectContaining({
      trouble: 'slow',
      retryAfterSeconds: expect.any(Number),
    });
    const note = (to: Database): Promise<unknown> =>
      to.transaction((tx) => tx.query(`INSERT INTO mcp.notes VALUES ('a')`));
    const notes = (): Promise<unknown> => admin.query('SELECT * FROM mcp.notes');

    it('fail after the wait of a request when their table is locked, and leave no statement behind', async () => {
      await whileLocked(async () => {
        const reading = failure(database.direct.query('SELECT * FROM mcp.notes'));
        const writing = [database, database.bulk].map((to) => failure(note(to)));
        expect(await Promise.all([reading, ...writing])).toEqual([slow, slow, slow]);
        expect(await waiting()).toBe(0);
      });
      expect(await notes()).toMatchObject({ rows: [] });
    });

    it('of other tables are answered while many wait for a locked one', async () => {
      await whileLocked(async () => {
        const stuck = Array.from({ length: 40 }, (_, i) =>
          failure(i % 2 ? note(database) : database.direct.query('SELECT * FROM mcp.notes')),
        );
        await eventually(async () => expect(await waiting()).toBeGreaterThan(1));
        expect(await database.direct.query('SELECT * FROM mcp.others')).toEqual([]);
        await database.transaction((tx) => tx.query('DELETE FROM mcp.others'));
        for (const one of await Promise.all(stuck)) expect(one).toEqual(slow);
      });
    });

    it('of the background wait as long as they need, on connections of their own', async () => {
      let works: Promise<unknown>[] = [];
      await whileLocked(async () => {
        works = [
          ...Array.from({ length: 20 }, () => note(database.background)),
          ...Array.from({ length: 5 }, () => note(database.audit)),
          database.background.direct.query(`INSERT INTO mcp.notes VALUES ('b')`),
        ];
        await eventually(async () => expect(await waiting()).toBeGreaterThan(2));
        expect(await failure(database.direct.query('SELECT * FROM mcp.notes'))).toEqual(slow);
        expect(await database.direct.query('SELECT * FROM mcp.others')).toEqual([]);
        await expect(database.ping()).resolves.toBeUndefined();
      });
      await Promise.all(works);
      expect((await admin.query('DELETE FROM mcp.notes')).rowCount).toBe(26);
    });

    it('of a request are cancelled when they take too long, those over many rows are not', async () => {
      const sleep = 'SELECT pg_sleep(2.5)';
      const long = [
        database.bulk.transaction((tx) => tx.query(sleep)),
        database.background.direct.query(sleep),
      ];
      const late = [
        failure(database.direct.query(sleep)),
        failure(database.transaction((tx) => tx.query(sleep))),
      ];
      expect(await Promise.all(late)).toEqual([slow, slow]);
      await Promise.all(long);
    });

    it('leave no limit on their connection', async () => {
      await database.background.direct.query('SELECT 1');
      await database.bulk.transaction((tx) => tx.query('SELECT 1'));
      const limits = Array.from({ length: 5 }, () =>
        source.createPatientRunner().query(`SELECT current_setting('statement_timeout') AS ms`),
      );
      const usual = how === 'directly' ? '2s' : '0';
      for (const [row] of (await Promise.all(limits)) as { ms: string }[][]) {
        expect(row).toEqual({ ms: usual });
      }
    });

    it('of health share one connection when requested at the same moment', async () => {
      const first = database.ping();
      expect(database.ping()).toBe(first);
      await first;
      const second = database.ping();
      expect(second).not.toBe(first);
      await second;
    });

    it('end a transaction without a statement without a connection', async () => {
      await expect(database.transaction(() => Promise.resolve('done'))).resolves.toBe('done');
      const refused = database.transaction(() => Promise.reject(new Error('not now')));
      await expect(refused).rejects.toThrow('not now');
    });

    it('roll back what a failed transaction wrote, also when its statements began together', async () => {
      const failed = database.transaction((tx) =>
        Promise.all([
          tx.query(`INSERT INTO mcp.notes VALUES ('c')`),
          tx.query(`INSERT INTO mcp.notes VALUES ('d')`),
          tx.query('SELECT 1 / 0'),
        ]),
      );
      await expect(failed).rejects.toThrow('division by zero');
      expect(await notes()).toMatchObject({ rows: [] });
    });
  },
);

describe('with fewer connections than allowed', () => {
  it('work waits for one that is free instead of failing', async () => {
    const folder = await temporaryFolder();
    const url = new URL(await createDatabase());
    const admin = new pg.Client({ connectionString: url.href });
    await admin.connect();
    const role = `few_${url.pathname.slice(-8)}`;
    await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'few' CONNECTION LIMIT 2`);
    url.username = role;
    url.password = 'few';
    const env = testEnv(folder.path, { DATABASE_URL: url.href, ...KEY });
    const source = new GuardedDataSource(dataSourceOptions(env, new EmbeddedDatabase(), []));
    await source.initialize();
    const database = new Database(source);
    const work = Array.from({ length: 30 }, (_, i) =>
      database.transaction((tx) => tx.query('SELECT $1::int AS i', [i])),
    );
    expect(await Promise.all(work)).toHaveLength(30);
    await source.destroy();
    await admin.end();
    await folder.remove();
  });
});
