import type { Database } from '@app/platform';
import { engines, openDatabase } from '../../../test/support/database.js';
import { ToolStore } from './tool.store.js';

describe.each(engines)('tools in %s', (engine) => {
  let opened: { database: Database; close: () => Promise<void> };

  beforeAll(async () => {
    opened = await openDatabase(engine);
  });
  afterAll(() => opened.close());

  const insert = (names: readonly string[]) =>
    opened.database.direct.query(
      `INSERT INTO mcp.tools (name, original_name, description, input_schema, definition, content_hash)
       SELECT name, name, '', '{}', '{}', '' FROM unnest($1::text[]) AS new (name)`,
      [names],
    );

  /** After the pages of the table and before what is read next. */
  function storeThatIsInterrupted(change: () => Promise<unknown>): ToolStore {
    const { direct } = opened.database.background;
    let isDone = false;
    const query = async (sql: string, parameters?: unknown[]): Promise<unknown> => {
      if (!isDone && /count|SELECT id FROM/.test(sql)) {
        isDone = true;
        await change();
      }
      return direct.query(sql, parameters);
    };
    return new ToolStore({ background: { direct: { query } } } as unknown as Database);
  }

  it('are read as they are when one is replaced by another meanwhile', async () => {
    await insert(['one', 'two']);
    const store = storeThatIsInterrupted(async () => {
      await opened.database.direct.query(`DELETE FROM mcp.tools WHERE name = 'one'`);
      await insert(['three']);
    });
    const tools = await store.read({ toolsOf: 'all', tools: new Set() });
    expect(tools.map(({ name }) => name).toSorted()).toEqual(['three', 'two']);
  });
});
