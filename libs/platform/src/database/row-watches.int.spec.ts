import pg from 'pg';
import { migrations } from '../../../../migrations/index.js';
import { temporaryFolder, testEnv } from '../../../../test/support/env.js';
import { createDatabase } from '../../../../test/support/postgres.js';
import { Upkeep } from './connections/upkeep.js';
import { Database } from './database.js';
import { dataSourceOptions } from './database.module.js';
import { EmbeddedDatabase } from './embedded-database.js';
import { GuardedDataSource } from './guarded-data-source.js';
import { rowsMark, RowWatches, whenChanged } from './row-watches.js';

const SETTINGS = {
  MCP_AGGREGATOR_DATABASE_TIMEOUT: '2',
  MCP_CREDENTIAL_KEY: 'a-key-for-this-test',
};

describe(RowWatches, () => {
  let admin: pg.Client;
  let source: GuardedDataSource;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let watches: RowWatches;
  let statements: string[];

  beforeAll(async () => {
    folder = await temporaryFolder();
    const url = await createDatabase();
    const env = testEnv(folder.path, { DATABASE_URL: url, ...SETTINGS });
    source = new GuardedDataSource(dataSourceOptions(env, new EmbeddedDatabase(), migrations));
    await source.initialize();
    admin = new pg.Client({ connectionString: url });
    await admin.connect();
    await admin.query(
      'CREATE SCHEMA mcp; CREATE TABLE mcp.notes (text text); CREATE TABLE mcp.others (text text)',
    );
  });
  afterAll(async () => {
    await admin.end();
    await source.destroy();
    await folder.remove();
  });
  beforeEach(async () => {
    await admin.query(`DELETE FROM mcp.notes; INSERT INTO mcp.notes VALUES ('one'), ('two')`);
    statements = [];
    const database = new Database(source);
    const { direct } = database.background;
    const background = {
      direct: {
        query: (sql: string) => {
          statements.push(sql);
          return direct.query<unknown>(sql);
        },
      },
    };
    watches = new RowWatches({ background } as unknown as Database, new Upkeep());
  });

  /** How often the rows of a table were read, and the errors of its watch. */
  function watch(table: string) {
    const seen = { reads: 0, errors: [] as unknown[], isBroken: false };
    watches.add({
      mark: rowsMark(table),
      look: whenChanged(() => {
        seen.reads += 1;
        return seen.isBroken ? Promise.reject(new Error('not read')) : Promise.resolve();
      }),
      failed: (error) => seen.errors.push(error),
    });
    return seen;
  }

  it('read only rows that were written since the last look', async () => {
    const [notes, others] = [watch('mcp.notes'), watch('mcp.others')];
    await watches.look();
    await watches.look();
    expect([notes.reads, others.reads]).toEqual([1, 1]);
    await admin.query(`UPDATE mcp.notes SET text = 'three' WHERE text = 'one'`);
    await watches.look();
    expect([notes.reads, others.reads]).toEqual([2, 1]);
  });

  it('notice a value that was changed and changed back, and a row that was replaced', async () => {
    const notes = watch('mcp.notes');
    await watches.look();
    await admin.query(`UPDATE mcp.notes SET text = 'three' WHERE text = 'one'`);
    await admin.query(`UPDATE mcp.notes SET text = 'one' WHERE text = 'three'`);
    await watches.look();
    expect(notes.reads).toBe(2);
    await admin.query(`DELETE FROM mcp.notes WHERE text = 'one'`);
    await admin.query(`INSERT INTO mcp.notes VALUES ('one')`);
    await watches.look();
    expect(notes.reads).toBe(3);
  });

  it('ask for all tables in one statement', async () => {
    watch('mcp.notes');
    watch('mcp.others');
    await watches.look();
    expect(statements).toHaveLength(1);
  });

  it('read rows again at the next look when that failed', async () => {
    const notes = watch('mcp.notes');
    notes.isBroken = true;
    await watches.look();
    notes.isBroken = false;
    await watches.look();
    await watches.look();
    expect(notes).toMatchObject({ reads: 2, errors: [expect.any(Error)] });
  });

  it('compare the other tables while one is locked', async () => {
    const [notes, others] = [watch('mcp.notes'), watch('mcp.others')];
    await admin.query('BEGIN; LOCK TABLE mcp.notes IN ACCESS EXCLUSIVE MODE');
    await watches.look();
    await admin.query('ROLLBACK');
    expect(others).toMatchObject({ reads: 1, errors: [] });
    expect(notes).toMatchObject({
      reads: 0,
      errors: [expect.objectContaining({ trouble: 'slow' })],
    });
  }, 30_000);
});
