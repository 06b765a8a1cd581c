import { atOnce, Database, RowWatches } from '@app/platform';
import { SERVERS_MARK } from '@app/registry';
import { startApp, stopIntervals, type TestApp } from '../../../../test/support/app.js';
import { eventually } from '../../../../test/support/eventually.js';
import { insertTools, ROWS_ONLY } from '../../../../test/support/rows.js';
import { Catalogue } from '../catalogue.js';
import { digestOfServers } from '../catalogue-snapshot.js';
import { digestsOf } from '../snapshot/tool-digests.js';
import { ToolStore } from '../tool.store.js';

describe.each([
  ['PostgreSQL', {}],
  ['PGlite', { DATABASE_URL: '' }],
])('the catalogue on %s', (_, settings) => {
  let service: TestApp;
  const rows = <T = unknown>(sql: string): Promise<T> =>
    service.app.get(Database, { strict: false }).direct.query<T>(sql);
  const serversMark = async (): Promise<string | undefined> =>
    (await rows<{ mark: string }[]>(`SELECT (${SERVERS_MARK}) AS mark`))[0]?.mark;
  const names = (): string[] =>
    service.app.get(Catalogue, { strict: false }).current.tools.map(({ name }) => name);
  const shownDigests = () =>
    atOnce(digestsOf(service.app.get(Catalogue, { strict: false }).current));
  const storedDigests = () => service.app.get(ToolStore, { strict: false }).digests();
  /** Waits until the reconcile job has shown the rows. */
  const reconciled = (expected: readonly string[]): Promise<void> =>
    eventually(async () => {
      await service.app.get(RowWatches, { strict: false }).look();
      expect(names().filter((name) => /^[ab]\./.test(name))).toEqual(expected);
    });

  beforeAll(async () => {
    service = await startApp({ ...ROWS_ONLY, ...settings });
    await insertTools(service.app, 'a', [
      { name: 'one', description: 'First' },
      { name: 'two', description: 'Second, with "quotes", ümlauts' },
    ]);
    await insertTools(service.app, 'b', [{ name: 'three', description: 'Third' }]);
    // Classification changes rows and catalogue, and is told of a moment later.
    await eventually(async () => {
      const due = await rows(
        `SELECT t.name FROM mcp.tools t LEFT JOIN mcp.tool_classifications c ON c.tool_id = t.id
         WHERE c.tool_id IS NULL OR c.due_at IS NOT NULL`,
      );
      expect(due).toEqual([]);
      expect(shownDigests()).toEqual(await storedDigests());
    });
    stopIntervals(service);
  });
  afterAll(() => service.close());

  it('is compared with the rows per server', async () => {
    await rows(
      `UPDATE mcp.tools SET skill_ids = '{x y,z}', is_classified = true, classified_by = 'someone'
       WHERE name = 'a.one'`,
    );
    await rows(`UPDATE mcp.tools SET classified_by = 'outdated' WHERE name = 'a.two'`);
    await service.app.get(Catalogue, { strict: false }).reload();
    const stored = await storedDigests();
    expect(shownDigests()).toEqual(stored);
    expect(stored.size).toBeGreaterThanOrEqual(2);
    await rows(
      `UPDATE mcp.tools SET classified_by = 'someone else', is_classified = true WHERE name = 'a.one'`,
    );
    expect(await storedDigests()).not.toEqual(stored);
  });

  it('shows servers as the rows have them', async () => {
    const catalogue = service.app.get(Catalogue, { strict: false });
    await rows(
      `UPDATE mcp.external_servers SET description = 'Ümlauts; "quotes"', error_message = 'late'
       WHERE name = 'a'`,
    );
    await catalogue.reloadServers();
    expect(digestOfServers(catalogue.current.servers)).toBe(await serversMark());
  });

  it('drops a server whose removal was heard before its registration', async () => {
    const catalogue = service.app.get(Catalogue, { strict: false });
    const watches = service.app.get(RowWatches, { strict: false });
    const id = '6f2c1f5e-9d5b-4a3c-8f1e-0d2b7c9a4e11';
    await watches.look();
    await catalogue.refresh({
      written: {
        id,
        name: 'removed',
        description: null,
        status: 'CONNECTING',
        errorMessage: null,
        listFailures: {},
        trust: null,
        credentials: 'shared',
        registeredAt: new Date(),
        version: 1,
      },
    });
    expect(catalogue.current.servers.has(id)).toBe(true);
    await watches.look();
    expect(catalogue.current.servers.has(id)).toBe(false);
  });

  it('finds rows that were written without an event', async () => {
    await reconciled(['a.one', 'a.two', 'b.three']);
    await rows(`DELETE FROM mcp.tools WHERE name = 'a.two'`);
    await reconciled(['a.one', 'b.three']);
    await rows(`DELETE FROM mcp.external_servers WHERE name = 'b'`);
    await reconciled(['a.one']);
  });
});
