import { openDatabase } from '../../../../test/support/database.js';
import type { Database, Replicas } from '@app/platform';
import { type CallerUses, type StoredUses, ToolUseStore, USES_CHANGED } from './tool-use.store.js';

const MODEL = 'static-test';
const DAY_MS = 86_400_000;
const now = new Date('2026-11-20T12:00:00Z');
const VIEW = '00000000-0000-4000-8000-000000000001';

describe.each(['PostgreSQL', 'PGlite'] as const)('uses of tools in %s', (kind) => {
  let opened: { database: Database; close: () => Promise<void> };
  let store: ToolUseStore;
  let tools: number[];
  let told: string[][];

  beforeAll(async () => {
    opened = await openDatabase(kind);
    const replicas: Pick<Replicas, 'tellIn'> = {
      tellIn: async (_tx, topic, ids) => {
        expect(topic).toBe(USES_CHANGED);
        told.push([...(ids ?? [])]);
      },
    };
    store = new ToolUseStore(opened.database, replicas as Replicas);
  });
  afterAll(() => opened.close());
  beforeEach(async () => {
    told = [];
    await opened.database.direct.query('DELETE FROM mcp.tools');
    const rows = await opened.database.direct.query<{ id: number }[]>(
      `INSERT INTO mcp.tools (name, original_name, description, input_schema, definition, content_hash)
       SELECT 'tool ' || n, 'tool', '', '{}', '{}', '' FROM generate_series(1, 3) AS n RETURNING id`,
    );
    tools = rows.map(({ id }) => id);
  });

  const used = (tool: number, caller: string, count: number, ...mean: number[]): CallerUses => ({
    viewId: VIEW,
    toolId: tools[tool] ?? 0,
    caller,
    uses: { count, mean: Float32Array.from(mean) },
  });
  async function stored(model = MODEL, at = now): Promise<StoredUses[]> {
    const all: StoredUses[] = [];
    for await (const page of store.read(model, at)) all.push(...page);
    return all;
  }

  it('are added to those of before, by tool and caller, and other replicas are told', async () => {
    await store.add(MODEL, [used(1, 'ada', 1, 1, 0), used(0, 'bob', 2, 0, 1)], now);
    await store.add(MODEL, [used(1, 'ada', 1, 0, 1)], now);
    expect(await stored()).toEqual([
      { ...used(0, 'bob', 2, 0, 1) },
      { ...used(1, 'ada', 2, 0.5, 0.5) },
    ]);
    expect(told.at(-1)).toEqual([`${VIEW} ${tools[1]}`]);
  });

  it('of many tools are told in parts that a notification has room for', async () => {
    const rows = await opened.database.direct.query<{ id: number }[]>(
      `INSERT INTO mcp.tools (name, original_name, description, input_schema, definition, content_hash)
       SELECT 'other tool ' || n, 'tool', '', '{}', '{}', '' FROM generate_series(1, 250) AS n RETURNING id`,
    );
    const uses = rows.map(({ id }) => ({ ...used(0, 'ada', 1, 1, 0), toolId: id }));
    await store.add(MODEL, uses, now);
    expect(told.map((keys) => keys.length)).toEqual([100, 100, 50]);
    expect(new Set(told.flat())).toEqual(new Set(rows.map(({ id }) => `${VIEW} ${id}`)));
  });

  it('of several replicas at the same moment are all counted', async () => {
    await Promise.all(
      Array.from({ length: 4 }, () => store.add(MODEL, [used(0, 'ada', 1, 1)], now)),
    );
    expect(await stored()).toMatchObject([{ uses: { count: 4 } }]);
  });

  it('count no more than five a caller, and less with time', async () => {
    await store.add(MODEL, [used(0, 'ada', 50, 1)], now);
    expect(await stored()).toMatchObject([{ uses: { count: 5 } }]);
    const later = new Date(now.getTime() + 60 * DAY_MS);
    expect((await stored(MODEL, later))[0]?.uses.count).toBeCloseTo(2.5);
    await store.add(MODEL, [used(0, 'ada', 1, 1)], later);
    expect((await stored(MODEL, later))[0]?.uses.count).toBeCloseTo(3.5);
  });

  it('of tools and views that are gone are left out, those beside them are not', async () => {
    const gone = { ...used(0, 'ada', 1, 1), toolId: 2_147_483_647 };
    const noView = { ...used(0, 'ada', 1, 1), viewId: '00000000-0000-4000-8000-00000000dead' };
    await store.add(MODEL, [gone, noView, used(2, 'ada', 1, 1)], now);
    expect(await stored()).toMatchObject([{ toolId: tools[2] }]);
  });

  it('go with their tool', async () => {
    await store.add(MODEL, [used(0, 'ada', 1, 1), used(1, 'ada', 1, 1)], now);
    await opened.database.direct.query('DELETE FROM mcp.tools WHERE id = $1', [tools[0]]);
    expect(await stored()).toMatchObject([{ toolId: tools[1] }]);
  });

  it('by another embedding model are not read, and are replaced', async () => {
    await store.add('other', [used(0, 'ada', 3, 1, 0)], now);
    expect(await stored()).toEqual([]);
    await store.add(MODEL, [used(0, 'ada', 1, 0, 1)], now);
    expect(await stored()).toEqual([used(0, 'ada', 1, 0, 1)]);
  });

  it('are forgotten by tool', async () => {
    await store.add(MODEL, [used(0, 'ada', 1, 1), used(0, 'bob', 1, 1), used(1, 'ada', 1, 1)], now);
    const forgotten = await opened.database.transaction((tx) =>
      store.forgetTool(tools[0] ?? 0, tx),
    );
    expect(forgotten).toEqual([{ viewId: VIEW, toolId: tools[0] }]);
    expect(await stored()).toMatchObject([{ toolId: tools[1] }]);
    expect(told.at(-1)).toEqual([`${VIEW} ${tools[0]}`]);
  });

  it('are deleted when they are old, and over the limits, oldest first, of one who has many', async () => {
    const at = (days: number): Date => new Date(now.getTime() + days * DAY_MS);
    await store.add(MODEL, [used(0, 'old', 1, 1)], at(-200));
    await store.add(MODEL, [used(0, 'busy', 1, 1)], at(-2));
    await store.add(MODEL, [used(1, 'busy', 1, 1)], at(-1));
    await store.add(MODEL, [used(2, 'busy', 1, 1)], now);
    await store.add(MODEL, [used(0, 'quiet', 1, 1)], at(-3));
    expect(await store.trim(at(-180), 100, 100)).toBe(1);
    expect(await store.trim(at(-180), 2, 100)).toBe(1);
    expect(await store.trim(at(-180), 2, 2)).toBe(1);
    const left = (await stored()).map(({ toolId, caller }) => [toolId, caller]);
    expect(left).toEqual([
      [tools[0], 'quiet'],
      [tools[2], 'busy'],
    ]);
  });
});
