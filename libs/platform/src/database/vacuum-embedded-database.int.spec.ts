import { startApp, type TestApp } from '../../../../test/support/app.js';
import { Database } from './database.js';
import { VacuumEmbeddedDatabaseJob } from './vacuum-embedded-database.job.js';

const ROWS = 20_000;

describe(VacuumEmbeddedDatabaseJob.name, () => {
  let service: TestApp;
  const ask = <T>(sql: string): Promise<T[]> =>
    service.app.get(Database, { strict: false }).direct.query(sql);
  const bytes = async (): Promise<number> => {
    const sizes = await ask<{ bytes: number }>(
      `SELECT pg_table_size('mcp.audit_log')::int AS bytes`,
    );
    return sizes[0]?.bytes ?? 0;
  };
  const fill = (): Promise<unknown[]> =>
    ask(`INSERT INTO mcp.audit_log (event, outcome, actor)
         SELECT 'tool.called', 'success', 'a client' FROM generate_series(1, ${ROWS})`);
  const tidyUp = (): Promise<void> =>
    service.app.get(VacuumEmbeddedDatabaseJob, { strict: false }).start();

  beforeAll(async () => {
    service = await startApp({ DATABASE_URL: '' });
  });
  afterAll(() => service.close());

  it('reuses the space of deleted rows', async () => {
    await fill();
    const once = await bytes();
    await ask('DELETE FROM mcp.audit_log');
    await tidyUp();
    await fill();
    expect(await bytes()).toBeLessThan(once * 1.1);
    await ask('DELETE FROM mcp.audit_log');
    await fill();
    // Without the job, to show that it is what frees the space.
    expect(await bytes()).toBeGreaterThan(once * 1.5);
  });
});
