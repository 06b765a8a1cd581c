import {
  type DataSource,
  MigrationExecutor,
  type MigrationInterface,
  type QueryRunner,
} from 'typeorm';

export type MigrationClass = new () => MigrationInterface;

/** Any number, the same for all replicas: whoever holds it migrates, the others wait and find nothing to do. */
const MIGRATION_LOCK = 7_202_611;

/** Runs what is pending; in one transaction, so that a failing migration leaves nothing behind. */
export async function migrate(dataSource: DataSource): Promise<string[]> {
  return withMigrator(dataSource, async (executor) =>
    (await executor.executePendingMigrations()).map((done) => done.name),
  );
}

/** Takes the newest migration back; its name, or undefined when there is none. */
export async function revertLast(dataSource: DataSource): Promise<string | undefined> {
  return withMigrator(dataSource, async (executor) => {
    const [newest] = await executor.getExecutedMigrations();
    if (newest) await executor.undoLastMigration();
    return newest?.name;
  });
}

async function withMigrator<T>(
  dataSource: DataSource,
  work: (executor: MigrationExecutor) => Promise<T>,
): Promise<T> {
  const runner: QueryRunner = dataSource.createQueryRunner();
  try {
    await runner.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    await runner.query('CREATE SCHEMA IF NOT EXISTS mcp');
    const executor = new MigrationExecutor(dataSource, runner);
    executor.transaction = 'all';
    return await work(executor);
  } finally {
    await runner.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]).catch(() => undefined);
    await runner.release();
  }
}
