import { Database } from '@app/platform';
import { startApp, type TestApp } from '../../../test/support/app.js';
import { eventually } from '../../../test/support/eventually.js';
import { insertTools, ROWS_ONLY } from '../../../test/support/rows.js';
import { Catalogue } from './catalogue.js';
import { digestsOf } from './catalogue-snapshot.js';
import { ReconcileCatalogueJob } from './reconcile-catalogue.job.js';
import { ToolStore } from './tool.store.js';

describe.each([
  ['PostgreSQL', {}],
  ['PGlite', { DATABASE_URL: '' }],
])('the catalogue on %s', (_, settings) => {
  let service: TestApp;
  const rows = (sql: string): Promise<unknown> =>
    service.app.get(Database, { strict: false }).direct.query(sql);
  const names = (): string[] =>
    service.app.get(Catalogue, { strict: false }).current.tools.map(({ name }) => name);
  /** Until what was written is counted. */
  const reconciled = (expected: readonly string[]): Promise<void> =>
    eventually(async () => {
      await service.app.get(ReconcileCatalogueJob, { strict: false }).reconcile();
      expect(names().filter((name) => /^[ab]\./.test(name))).toEqual(expected);
    }, 90_000);

  beforeAll(async () => {
    service = await startApp({ ...ROWS_ONLY, ...settings });
    await insertTools(service.app, 'a', [
      { name: 'one', description: 'First' },
      { name: 'two', description: 'Second, with "quotes", ümlauts' },
    ]);
    await insertTools(service.app, 'b', [{ name: 'three', description: 'Third' }]);
  });
  afterAll(() => service.close());

  it('is compared with the rows server by server', async () => {
    await rows(
      `UPDATE mcp.tools SET skill_ids = '{x y,z}', is_classified = true WHERE name = 'a.one'`,
    );
    await service.app.get(Catalogue, { strict: false }).reload();
    const { tools } = service.app.get(Catalogue, { strict: false }).current;
    const stored = await service.app.get(ToolStore, { strict: false }).digests();
    expect(digestsOf(tools)).toEqual(stored);
    expect(stored.size).toBeGreaterThanOrEqual(2);
  });

  it('learns of rows that nobody told of', async () => {
    await reconciled(['a.one', 'a.two', 'b.three']);
    await rows(`DELETE FROM mcp.tools WHERE name = 'a.two'`);
    await reconciled(['a.one', 'b.three']);
    await rows(`DELETE FROM mcp.external_servers WHERE name = 'b'`);
    await reconciled(['a.one']);
  });
});
