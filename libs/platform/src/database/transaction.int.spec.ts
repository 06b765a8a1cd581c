import { openDatabase } from '../../../../test/support/database.js';
import { postgresVersions } from '../../../../test/support/postgres.js';
import type { Database, Tx } from './database.js';

describe.each(postgresVersions)('two transactions that wait for each other on %s', (version) => {
  let opened: Awaited<ReturnType<typeof openDatabase>>;
  let database: Database;
  beforeAll(async () => {
    opened = await openDatabase(version);
    database = opened.database;
    await database.direct.query(
      "INSERT INTO mcp.settings (key, value) VALUES ('a', '0'), ('b', '0')",
    );
  });
  afterAll(() => opened.close());

  it('both succeed: the one that PostgreSQL aborts is retried', async () => {
    let waiting = 0;
    let meet: () => void = () => undefined;
    const bothHaveOne = new Promise<void>((resolve) => {
      meet = resolve;
    });
    const count = (tx: Tx, key: string): Promise<unknown> =>
      tx.query('UPDATE mcp.settings SET value = to_jsonb((value::text)::int + 1) WHERE key = $1', [
        key,
      ]);
    const inOrder = (...keys: [string, string]): Promise<void> =>
      database.transaction(async (tx) => {
        await count(tx, keys[0]);
        if (++waiting === 2) meet();
        await bothHaveOne;
        await count(tx, keys[1]);
      });
    await Promise.all([inOrder('a', 'b'), inOrder('b', 'a')]);
    expect(waiting).toBe(3);
    const rows: unknown = await database.direct.query(
      'SELECT key, value FROM mcp.settings ORDER BY key',
    );
    expect(rows).toEqual([
      { key: 'a', value: 2 },
      { key: 'b', value: 2 },
    ]);
  });
});
