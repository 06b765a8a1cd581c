import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
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

  it.each([
    ['data folder', ''],
    ['folder of the database', 'postgres'],
  ])('refuses to store anything once the %s is gone, and still closes', async (_, part) => {
    const error = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    const dataDir = join(folder.path, `lost-${part}`);
    const other = new EmbeddedDatabase();
    await other.hold(dataDir);
    const second = new Pool(Object.assign(other.open(dataDir), { max: 1 }));
    await second.query('CREATE TABLE kept (n int)');
    await second.query('BEGIN');
    await second.query('INSERT INTO kept VALUES ($1)', [1]);
    rmSync(join(dataDir, part), { recursive: true });
    const refusals = await Promise.allSettled([
      second.query('COMMIT'),
      second.query('INSERT INTO kept VALUES ($1)', [2]),
      second.query('SELECT n FROM kept'),
    ]);
    for (const refusal of refusals) {
      expect(refusal).toMatchObject({ status: 'rejected', reason: { code: '58030' } });
      if (refusal.status === 'rejected') expect(String(refusal.reason)).toContain(dataDir);
    }
    expect(error).toHaveBeenCalledTimes(1);
    error.mockRestore();
    await second.end();
    await other.close();
    expect(existsSync(join(dataDir, 'postgres'))).toBe(false);
  });

  it('is held for one process, until it is closed', async () => {
    const dataDir = join(folder.path, 'held');
    const other = new EmbeddedDatabase();
    await other.hold(dataDir);
    await expect(new EmbeddedDatabase().hold(dataDir)).rejects.toThrow('already uses');
    await other.close();
    await expect(embedded.hold(dataDir)).resolves.toBeUndefined();
  });

  it('finishes pending queries before it closes', async () => {
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
