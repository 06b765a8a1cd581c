import type { DataSource } from 'typeorm';
import { DatabaseUnavailable } from './database.errors.js';
import type { DatabaseTrouble } from './pg-errors.js';

const PROBE_EVERY_MS = 10_000;
/** Larger than the free space of the table's last page, so that the file has to grow. */
const PROBE_BYTES = 65_536;

/**
 * After a write failed for lack of space: tests whether space is available again. At most one write per ten seconds,
 * rolled back at once.
 */
export class StorageProbe {
  private probedAt = -Infinity;

  constructor(
    private readonly dataSource: DataSource,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Resolves after a successful write, rejects with the problem otherwise. */
  async check(trouble: DatabaseTrouble): Promise<void> {
    if (this.now() - this.probedAt < PROBE_EVERY_MS) throw new DatabaseUnavailable(trouble);
    this.probedAt = this.now();
    const runner = this.dataSource.createQueryRunner();
    try {
      await runner.startTransaction();
      await runner.query(
        `INSERT INTO mcp.settings (key, value)
         SELECT 'storage-probe', to_jsonb(string_agg(md5(random()::text), ''))
         FROM generate_series(1, $1)`,
        [PROBE_BYTES / 32],
      );
      await runner.query('DELETE FROM mcp.settings WHERE key = $1', ['storage-probe']);
      await runner.commitTransaction();
    } catch (error) {
      await runner.rollbackTransaction().catch(() => undefined);
      throw error;
    } finally {
      await runner.release();
    }
  }
}
