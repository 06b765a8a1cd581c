import { allEngines, openDatabase } from '../../../../test/support/database.js';
import { LoginCodeStore } from './login-code.store.js';

const hash = (text: string): string => text.padEnd(64, '0');

describe.each(allEngines)(`${LoginCodeStore.name} on %s`, (engine) => {
  let opened: Awaited<ReturnType<typeof openDatabase>>;
  let store: LoginCodeStore;

  beforeAll(async () => {
    opened = await openDatabase(engine);
    store = new LoginCodeStore(opened.database);
  });
  beforeEach(() => opened.database.direct.query('DELETE FROM mcp.login_codes'));
  afterAll(() => opened.close());

  const make = (code: string, token = 'token', sessionEndsBy: Date | null = null) => {
    const given = { codeHash: hash(code), tokenHash: hash(token), sessionEndsBy };
    return opened.database.transaction((tx) => store.insert(given, tx));
  };
  const use = (code: string) => opened.database.transaction((tx) => store.use(hash(code), tx));
  const age = (code: string, by: string) =>
    opened.database.direct.query(
      `UPDATE mcp.login_codes SET expires_at = expires_at - $2::interval,
         created_at = created_at - $2::interval WHERE code_hash = $1`,
      [hash(code), by],
    );

  it('has a code for ten minutes, with the token and the end of the session that it is for', async () => {
    const end = new Date('2126-01-01T00:00:00.000Z');
    const expiresAt = await make('a', 'token', end);
    expect(Math.round((expiresAt.getTime() - Date.now()) / 60_000)).toBe(10);
    const code = { codeHash: hash('a'), tokenHash: hash('token'), sessionEndsBy: end };
    expect(await store.find(hash('a'))).toEqual(code);
    await age('a', '11 min');
    expect(await store.find(hash('a'))).toBeUndefined();
    expect(await use('a')).toBe(false);
    await store.deleteExpired();
    const rows = await opened.database.direct.query<object[]>('SELECT 1 FROM mcp.login_codes');
    expect(rows).toEqual([]);
  });

  it('lets a code be used by one of many', async () => {
    await make('a');
    const uses = await Promise.all([use('a'), use('a'), use('a')]);
    expect(uses.filter(Boolean)).toHaveLength(1);
    expect(await store.find(hash('a'))).toBeUndefined();
  });

  it('closes the oldest of six links of a token', async () => {
    await make('other', 'token of another');
    for (let i = 0; i < 5; i++) await make(`c${i}x`);
    await age('c3x', '1 min');
    await make('new');
    const open = await Promise.all(
      ['c2x', 'c3x', 'new', 'other'].map(async (code) => (await store.find(hash(code))) && code),
    );
    expect(open).toEqual(['c2x', undefined, 'new', 'other']);
  });
});
