import { temporaryFolder } from '../../../../test/support/env.js';
import { Pool } from 'pg';
import { EmbeddedDatabase } from './embedded-database.js';

describe(EmbeddedDatabase.name, () => {
  const embedded = new EmbeddedDatabase();
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let pool: Pool;

  beforeAll(async () => {
    folder = await temporaryFolder();
    pool = new Pool(Object.assign(embedded.open(folder.path), { max: 1 }));
    await pool.query('SELECT 1');
  });
  afterAll(async () => {
    await pool.end();
    await embedded.close();
    await folder.remove();
  });

  it.each([
    ['simple', undefined],
    ['extended', [1]],
  ])('lets others have their turn between two %s queries', async (_, values) => {
    let turns = 0;
    let isOver = false;
    const other = (): void => {
      turns++;
      if (!isOver) setImmediate(other);
    };
    setImmediate(other);
    for (let i = 0; i < 20; i++) {
      await pool.query(values ? 'SELECT $1::int' : 'SELECT 1', values);
    }
    isOver = true;
    expect(turns).toBeGreaterThanOrEqual(20);
  });

  it('answers before it closes what was asked before', async () => {
    const other = new EmbeddedDatabase();
    const second = new Pool(Object.assign(other.open(`${folder.path}/other`), { max: 1 }));
    await second.query('SELECT 1');
    const asked = [second.query('SELECT $1::int AS n', [1]), second.query('SELECT 2 AS n')];
    await other.close();
    const rows = (await Promise.all(asked)).map((answer) => (answer as { rows: unknown }).rows);
    expect(rows).toEqual([[{ n: 1 }], [{ n: 2 }]]);
    await second.end();
  });
});
