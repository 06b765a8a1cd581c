import { allEngines, openDatabase } from '../../../../test/support/database.js';
import { BrowserSessionStore } from './browser-session.store.js';

const hash = (text: string): string => text.padEnd(64, '0');

describe.each(allEngines)(`${BrowserSessionStore.name} on %s`, (engine) => {
  let opened: Awaited<ReturnType<typeof openDatabase>>;
  let store: BrowserSessionStore;

  beforeAll(async () => {
    opened = await openDatabase(engine);
    store = new BrowserSessionStore(opened.database);
  });
  beforeEach(() => opened.database.direct.query('DELETE FROM mcp.browser_sessions'));
  afterAll(() => opened.close());

  const begin = (id: string, token = 'token') => {
    const session = { idHash: hash(id), tokenHash: hash(token), endsBy: null };
    return opened.database.transaction((tx) => store.insert(session, tx));
  };
  /** As if the session had begun, or been used, that long ago. */
  const age = (id: string, column: 'ends_at' | 'last_used_at', by: string) =>
    opened.database.direct.query(
      `UPDATE mcp.browser_sessions SET ${column} = ${column} - $2::interval WHERE id_hash = $1`,
      [hash(id), by],
    );
  const alive = async (...ids: string[]) =>
    (await store.find(ids.map(hash))).map(({ idHash }) => idHash.replace(/0+$/, '')).sort();
  const count = async (): Promise<number | undefined> => {
    const [row] = await opened.database.direct.query<{ n: number }[]>(
      'SELECT count(*)::int AS n FROM mcp.browser_sessions',
    );
    return row?.n;
  };

  it('finds what it has stored, with the time at which it ends when it is not used', async () => {
    const begun = await begin('a');
    expect(await store.find([hash('a'), hash('b')])).toEqual([{ ...begun, isIdle: false }]);
    const hours = (begun.expiresAt.getTime() - Date.now()) / 3_600_000;
    expect(Math.round(hours)).toBe(12);
  });

  it.each([
    ['after twelve hours without use', 'last_used_at', '11:55', '10 min'],
    ['after seven days', 'ends_at', '6 days 23:55', '10 min'],
  ] as const)('does not find a session %s', async (_, column, almost, more) => {
    await begin('a');
    await age('a', column, almost);
    expect(await alive('a')).toEqual(['a']);
    await age('a', column, more);
    expect(await alive('a')).toEqual([]);
    expect(await count()).toBe(1);
    await begin('b');
    await store.deleteExpired();
    expect([await count(), await alive('a', 'b')]).toEqual([1, ['b']]);
  });

  it('notes the use of sessions, which then live on', async () => {
    await begin('a');
    await age('a', 'last_used_at', '11:55');
    expect(await store.find([hash('a')])).toMatchObject([{ isIdle: true }]);
    await store.noteUse([hash('a')]);
    expect(await store.find([hash('a')])).toMatchObject([{ isIdle: false }]);
  });

  it('ends the session of a token that was unused for longest when there are 21 of it', async () => {
    await begin('other', 'token of another');
    for (let i = 0; i < 20; i++) await begin(`s${i}x`);
    await age('s7x', 'last_used_at', '1 min');
    expect(await count()).toBe(21);
    await begin('new');
    expect(await count()).toBe(21);
    expect(await alive('s7x', 's8x', 'new', 'other')).toEqual(['new', 'other', 's8x']);
  });

  it('deletes a session once', async () => {
    await begin('a');
    const remove = () => opened.database.transaction((tx) => store.delete(hash('a'), tx));
    expect([await remove(), await remove()]).toEqual([true, false]);
    expect(await alive('a')).toEqual([]);
  });
});
