import { Database } from '@app/platform';
import { randomUUID } from 'node:crypto';
import { startApp, type TestApp } from '../../../../test/support/app.js';
import { Api } from '../../../../test/support/api.js';
import { ROWS_ONLY } from '../../../../test/support/rows.js';
import {
  MAX_PENDING,
  MAX_PENDING_PER_SERVER,
  MAX_TOOLS_PER_SUGGESTION,
  SuggestionStore,
} from './suggestion.store.js';

interface Row {
  readonly name: string;
  readonly tools: number;
}

describe.each([
  ['PostgreSQL', {}],
  ['PGlite', { DATABASE_URL: '' }],
])(`${SuggestionStore.name} on %s`, (_, settings) => {
  let service: TestApp;
  let store: SuggestionStore;

  beforeAll(async () => {
    service = await startApp({ ...ROWS_ONLY, ...settings });
    store = service.app.get(SuggestionStore, { strict: false });
  });
  afterAll(() => service.close());
  beforeEach(() => query('DELETE FROM mcp.skill_suggestions'));

  const query = <T>(sql: string, values: unknown[] = []): Promise<T[]> =>
    service.app.get(Database, { strict: false }).direct.query(sql, values);
  const suggestions = (count: number, serverId: string | null, prefix: string) =>
    Array.from({ length: count }, (_one, i) => ({
      name: `${prefix} ${i}`,
      description: '',
      toolId: i + 1,
      serverId,
    }));
  const rows = (): Promise<Row[]> =>
    query('SELECT name, cardinality(tool_ids) AS tools FROM mcp.skill_suggestions ORDER BY id');
  const listed = async () =>
    (await new Api(service).call('GET', '/skill-suggestions?limit=1')).body;

  it('keeps a limited number for each server, and removes those with the fewest tools, then the oldest', async () => {
    const [one, other] = [randomUUID(), randomUUID()];
    await store.add(suggestions(1, other, 'Other'), 'fake');
    await store.add(suggestions(2, one, 'First'), 'fake');
    await store.add([{ name: 'First 0', description: '', toolId: 99, serverId: one }], 'fake');
    expect((await listed())['note']).toBeNull();
    await store.add(suggestions(MAX_PENDING_PER_SERVER, one, 'Later'), 'fake');
    const names = (await rows()).map(({ name }) => name);
    expect(names).toHaveLength(MAX_PENDING_PER_SERVER + 1);
    expect(names).toEqual(expect.arrayContaining(['Other 0', 'First 0', 'Later 99']));
    expect(names).not.toContain('First 1');
    expect((await listed())['note']).toMatch(/were removed.*comes back when/);
  });

  it('keeps a limited number in all, and every one that was reviewed', async () => {
    await store.add(suggestions(1, null, 'Rejected'), 'fake');
    await query(`UPDATE mcp.skill_suggestions SET status = 'REJECTED'`);
    await query(
      `INSERT INTO mcp.skill_suggestions (name, description, suggested_by, server_id, tool_ids)
       SELECT 'Old ' || i, '', 'fake', gen_random_uuid(), '{1}' FROM generate_series(1, $1::int) AS i`,
      [MAX_PENDING],
    );
    await store.add(suggestions(5, null, 'New'), 'fake');
    const names = (await rows()).map(({ name }) => name);
    expect(names).toHaveLength(MAX_PENDING + 1);
    expect(names).toEqual(expect.arrayContaining(['Rejected 0', 'New 0', 'New 4']));
  });

  it('keeps a limited number of tools for each', async () => {
    for (let start = 0; start < 2; start++) {
      const same = suggestions(MAX_TOOLS_PER_SUGGESTION, null, '').map((one) => ({
        ...one,
        name: 'Same',
        toolId: one.toolId + start * MAX_TOOLS_PER_SUGGESTION,
      }));
      await store.add(same, 'fake');
    }
    expect(await rows()).toEqual([{ name: 'Same', tools: MAX_TOOLS_PER_SUGGESTION }]);
  });
});
