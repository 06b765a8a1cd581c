import type { CredentialVault } from '@app/registry';
import { randomUUID } from 'node:crypto';
import { allEngines, openDatabase } from '../../../../test/support/database.js';
import { hashOf, RecordStore } from './record.store.js';

/** Seals nothing. */
const vault = {
  seal: (text: string) => ({ text }),
  open: (sealed: { text: string }) => sealed.text,
} as unknown as CredentialVault;

describe.each(allEngines)('%s: the records of the authorization server', (engine) => {
  let opened: Awaited<ReturnType<typeof openDatabase>>;
  let store: RecordStore;

  beforeAll(async () => {
    opened = await openDatabase(engine, []);
    store = new RecordStore(opened.database, vault);
  });

  beforeEach(() => query('TRUNCATE mcp.oauth_records, mcp.oauth_grants'));

  afterAll(() => opened.close());

  const query = (text: string, values: readonly unknown[] = []): Promise<unknown> =>
    opened.database.direct.query(text, [...values]);
  const give = async (clientId: string): Promise<string> => {
    const id = randomUUID();
    await query(
      `INSERT INTO mcp.oauth_grants (id, account, person, client_id, client_hash, redirect_host,
         scopes, resource, expires_at)
       VALUES ($1, 'a', 'a', $2, $3, 'x', '{read}', '', now() + interval '1 day')`,
      [id, clientId, hashOf(clientId)],
    );
    return id;
  };
  const registerMany = (network: string, count: number, age: string): Promise<unknown> =>
    query(
      `INSERT INTO mcp.oauth_records (kind, id_hash, payload, network, created_at)
       SELECT 'Client', $1 || n, '{"text":"{}"}', $1, now() - $3::interval
       FROM generate_series(1, $2::int) AS n`,
      [network, count, age],
    );
  const register = (id: string, network: string) => store.saveClient(id, {}, network);

  it('refuse clients of a network that registers too many, and of no other', async () => {
    await registerMany('192.0.2.1', 100, '1 minute');
    expect(await register('one', '192.0.2.1')).toBe(false);
    expect(await register('two', '192.0.2.2')).toBe(true);
  });

  it('remove a client that no person gave access to for a new one, after some time', async () => {
    await registerMany('192.0.2.1', 100, '16 minutes');
    expect(await register('one', '192.0.2.1')).toBe(true);
    await registerMany('192.0.2.3', 950, '16 minutes');
    expect(await register('two', '192.0.2.4')).toBe(true);
  });

  it('count no clients that a person gave access to, and remove none of them', async () => {
    await register('used', '192.0.2.1');
    await give('used');
    await query(`UPDATE mcp.oauth_records SET created_at = now() - interval '2 days'`);
    await registerMany('192.0.2.1', 99, '16 minutes');
    for (const id of ['one', 'two', 'three']) expect(await register(id, '192.0.2.1')).toBe(true);
    await store.deleteUnused();
    expect(await store.find('Client', 'used')).toBeDefined();
  });

  it('keep the last used refresh tokens of a grant, and nothing of a grant that is gone', async () => {
    const grantId = await give('client');
    await store.save('Grant', grantId, {}, undefined);
    for (let n = 0; n < 15; n++) {
      await store.save('RefreshToken', `token ${n}`, { grantId }, 3_600);
      if (n < 14) await store.consume('RefreshToken', `token ${n}`);
    }
    await store.deleteUnused();
    expect(await store.find('RefreshToken', 'token 3')).toBeUndefined();
    expect(await store.find('RefreshToken', 'token 4')).toMatchObject({ isJustUsed: true });
    expect(await store.find('RefreshToken', 'token 14')).toMatchObject({ isJustUsed: false });

    await query('DELETE FROM mcp.oauth_grants');
    await query(`UPDATE mcp.oauth_records SET created_at = now() - interval '2 hours'`);
    await store.deleteUnused();
    expect(await query('SELECT 1 FROM mcp.oauth_records')).toEqual([]);
  });

  it('let the oldest request of a client give way when 10,000 wait for a person', async () => {
    await query(
      `INSERT INTO mcp.oauth_records (kind, id_hash, payload, created_at, expires_at)
       SELECT 'Interaction', md5(n::text), '{"text":"{}"}', now() - n * interval '1 second',
         now() + interval '1 hour'
       FROM generate_series(1, 10000) AS n`,
    );
    await store.save('Interaction', 'newest', {}, 1_800);
    expect(await store.find('Interaction', 'newest')).toBeDefined();
    const left = await query(
      `SELECT count(*)::int AS count, bool_or(id_hash = md5('10000')) AS "hasOldest"
       FROM mcp.oauth_records`,
    );
    expect(left).toEqual([{ count: 10_000, hasOldest: false }]);
  });

  it('are all sealed again, however many', async () => {
    await registerMany('192.0.2.1', 1_200, '1 minute');
    const again = new RecordStore(opened.database, {
      open: (sealed: { text: string }) => sealed.text,
      seal: (text: string) => ({ text, again: true }),
    } as unknown as CredentialVault);
    await opened.database.transaction((tx) => again.resealAll(tx));
    const left = `SELECT 1 FROM mcp.oauth_records WHERE payload ->> 'again' IS NULL`;
    expect(await query(left)).toEqual([]);
  });
});
