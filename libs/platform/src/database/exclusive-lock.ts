import type { DataSource, QueryRunner } from 'typeorm';

/**
 * A lock that one process at a time has, on a connection of its own: PostgreSQL frees it as soon as
 * that connection is gone, so a holder that was killed holds nothing.
 */
export class ExclusiveLock {
  private runner: QueryRunner | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly key: number,
  ) {}

  /** Whether this process has it now: takes it if it is free, and notices if it was lost. */
  async hold(): Promise<boolean> {
    if (this.runner) return this.isStillHeld(this.runner);
    const runner = this.dataSource.createQueryRunner();
    try {
      const [row] = (await runner.query('SELECT pg_try_advisory_lock($1) AS held', [this.key])) as {
        held: boolean;
      }[];
      if (row?.held) this.runner = runner;
    } finally {
      if (!this.runner) await runner.release();
    }
    return this.runner !== undefined;
  }

  async free(): Promise<void> {
    const { runner } = this;
    this.runner = undefined;
    if (!runner) return;
    try {
      await runner.query('SELECT pg_advisory_unlock($1)', [this.key]);
    } finally {
      await runner.release();
    }
  }

  private async isStillHeld(runner: QueryRunner): Promise<boolean> {
    try {
      await runner.query('SELECT 1');
      return true;
    } catch {
      // The connection broke, and the lock with it.
      this.runner = undefined;
      await runner.release();
      return false;
    }
  }
}
