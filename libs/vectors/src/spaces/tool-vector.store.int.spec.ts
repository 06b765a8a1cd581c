import type { Database } from '@app/platform';
import { openDatabase } from '../../../../test/support/database.js';
import { ToolVectorStore } from './tool-vector.store.js';

/** More than a slice, and no multiple of one. */
const TOOLS = 1_203;

describe.each(['PostgreSQL', 'PGlite'] as const)('vectors of tools in %s', (kind) => {
  let opened: { database: Database; close: () => Promise<void> };
  let store: ToolVectorStore;

  beforeAll(async () => {
    opened = await openDatabase(kind);
    store = new ToolVectorStore(opened.database);
    await opened.database.direct.query(
      `INSERT INTO mcp.tools (name, original_name, description, input_schema, definition, content_hash)
       SELECT 'tool ' || n, 'tool', '', '{}', '{}', '' FROM generate_series(1, ${TOOLS}) AS n`,
    );
  });
  afterAll(() => opened.close());
  beforeEach(async () => {
    await opened.database.direct.query(
      `INSERT INTO mcp.tool_vectors (tool_id, model_id, text_hash, vector)
       SELECT id, model, '', '\\x00000000' FROM mcp.tools, unnest(ARRAY['a', 'static-1', 'z']) AS model
       ON CONFLICT DO NOTHING`,
    );
  });

  it('of all models but one are forgotten', async () => {
    await store.forgetOtherModels('static-1');
    expect(await store.modelIds()).toEqual(['static-1']);
    expect((await store.textHashes('static-1')).size).toBe(TOOLS);
  });

  it('are all forgotten if none are kept', async () => {
    await store.forgetOtherModels(undefined);
    expect(await store.modelIds()).toEqual([]);
  });
});
