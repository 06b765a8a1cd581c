import { Logger } from '@nestjs/common';
import { type Database, parseEnv, SettingsStore } from '@app/platform';
import { CredentialVault } from '@app/registry';
import { randomBytes, randomUUID } from 'node:crypto';
import { allEngines, openDatabase } from '../../../../test/support/database.js';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { testEnv } from '../../../../test/support/env.js';
import { KeptResultStore } from './kept-result.store.js';
import { type Keeping, KeptResults } from './kept-results.js';

const MEGABYTE = 1_048_576;

async function vaultWith(
  database: Database,
  key: string,
  previous?: string,
): Promise<CredentialVault> {
  const env = parseEnv({
    MCP_CREDENTIAL_KEY: key,
    ...(previous && { MCP_CREDENTIAL_KEY_PREVIOUS: previous }),
  });
  const vault = new CredentialVault(env, new SettingsStore(database));
  await vault.onModuleInit();
  return vault;
}

beforeAll(() => Logger.overrideLogger(false));

describe.each(allEngines)('kept results in %s', (engine) => {
  let opened: Awaited<ReturnType<typeof openDatabase>>;
  let database: Database;
  let store: KeptResultStore;
  let clock: FakeClock;
  let results: KeptResults;

  beforeAll(async () => {
    opened = await openDatabase(engine);
    ({ database } = opened);
    store = new KeptResultStore(database, await vaultWith(database, 'first key of this test'));
  }, 120_000);
  afterAll(() => opened.close());

  beforeEach(async () => {
    clock = new FakeClock();
    const env = testEnv('unused', { MCP_AGGREGATOR_KEPT_RESULT_BYTES: String(8 * MEGABYTE) });
    results = new KeptResults(store, clock, env);
    await database.direct.query('DELETE FROM mcp.kept_results');
  });

  const whole = async (keeping: Keeping, owner = 'ada'): Promise<string | undefined> => {
    if (!keeping.isKept) throw new Error(keeping.reason);
    let text = '';
    for (let page = 1; page <= keeping.pages; page++) {
      const found = await store.page(keeping.id, owner, page, clock.now());
      if (!found) return undefined;
      text += found.text;
    }
    return text;
  };

  it('are read back in pages, byte for byte', async () => {
    const text = JSON.stringify({
      content: [{ type: 'text', text: '字 é 😀 " \\ '.repeat(5_000) }],
    });
    const keeping = await results.keep('ada', Buffer.from(text), 2_000);
    expect(keeping).toMatchObject({ isKept: true, pages: expect.any(Number) });
    expect(await whole(keeping)).toBe(text);
  });

  it('are read by their owner only, and by id and page only', async () => {
    const keeping = await results.keep('ada', Buffer.from('{"a":1}'), 2_000);
    const id = keeping.isKept ? keeping.id : '';
    expect(await store.page(id, 'ada', 1, clock.now())).toMatchObject({
      text: '{"a":1}',
      pages: 1,
    });
    expect(await store.page(id, 'bob', 1, clock.now())).toBeUndefined();
    expect(await store.page(id, 'ada', 2, clock.now())).toBeUndefined();
    expect(await store.page(randomUUID(), 'ada', 1, clock.now())).toBeUndefined();
  });

  it('expire, and are deleted then', async () => {
    const keeping = await results.keep('ada', Buffer.from('{"a":1}'), 2_000);
    clock.setBy(3_599_000);
    expect(await whole(keeping)).toBe('{"a":1}');
    clock.setBy(1_000);
    expect(await whole(keeping)).toBeUndefined();
    await store.forgetExpired(clock.now());
    expect(await database.direct.query('SELECT 1 FROM mcp.kept_result_pages')).toEqual([]);
  });

  it('make room by the oldest of the same owner', async () => {
    const large = (): Buffer => Buffer.from(`"${randomBytes(190_000).toString('hex')}"`);
    const kept: Keeping[] = [];
    for (let i = 0; i < 4; i++) {
      clock.setBy(1_000);
      kept.push(await results.keep('ada', large(), 16_000));
    }
    const other = await results.keep('bob', large(), 16_000);
    expect(await Promise.all(kept.map((one) => whole(one)))).toEqual([
      undefined,
      undefined,
      expect.any(String),
      expect.any(String),
    ]);
    expect(await whole(other, 'bob')).toEqual(expect.any(String));
  });

  it('are refused with a reason when one is larger than its owner’s part', async () => {
    const large = Buffer.alloc(MEGABYTE + 1, 'a');
    expect(await results.keep('ada', large, 16_000)).toEqual({
      isKept: false,
      reason: 'there is no room for it',
    });
  });

  it('are given up when storing them takes too long', async () => {
    class SlowClock extends FakeClock {
      private asked = 0;

      override monotonic(): number {
        return ++this.asked * 6_000;
      }
    }
    const slow = new KeptResults(store, new SlowClock(), testEnv('unused'));
    const bytes = Buffer.alloc(MEGABYTE, 'a');
    expect(await slow.keep('ada', bytes, 16_000)).toEqual({
      isKept: false,
      reason: 'storing it takes too long',
    });
  });

  it('stay within the limit when many are kept at the same time', async () => {
    const owners = Array.from({ length: 20 }, (_, i) => `user ${i}`);
    const bytes = Buffer.alloc(MEGABYTE, 'a');
    await Promise.all(owners.map((owner) => results.keep(owner, bytes, 16_000)));
    const [row] = await database.direct.query<{ sum: number }[]>(
      'SELECT sum(bytes)::float8 AS sum FROM mcp.kept_results',
    );
    expect(row?.sum).toBeLessThanOrEqual(8 * MEGABYTE);
  });

  it('are gone when the tokens of their owner are withdrawn', async () => {
    const [mine, other] = [
      await results.keep('ada', Buffer.from('{}'), 2_000),
      await results.keep('bob', Buffer.from('{}'), 2_000),
    ];
    await store.forgetOf(['ada', 'eve']);
    expect(await whole(mine)).toBeUndefined();
    expect(await whole(other, 'bob')).toBe('{}');
  });

  it('are encrypted, and bound to their place', async () => {
    const keeping = await results.keep('ada', Buffer.from('{"password":"hunter2"}'), 2_000);
    const other = await results.keep('bob', Buffer.from('{"of":"bob"}'), 2_000);
    const rows = await database.direct.query<object[]>('SELECT * FROM mcp.kept_result_pages');
    expect(JSON.stringify(rows)).not.toContain('hunter2');
    if (!keeping.isKept || !other.isKept) throw new Error('not kept');
    await database.direct.query(
      `UPDATE mcp.kept_result_pages SET sealed =
         (SELECT sealed FROM mcp.kept_result_pages WHERE result_id = $1) WHERE result_id = $2`,
      [keeping.id, other.id],
    );
    expect(await whole(other, 'bob')).toBeUndefined();
  });

  it('are gone with the key that encrypted them', async () => {
    const keeping = await results.keep('ada', Buffer.from('{"a":1}'), 2_000);
    const first = 'first key of this test';
    const rotated = await vaultWith(database, 'second key of this test', first);
    const both = new KeptResultStore(database, rotated);
    const id = keeping.isKept ? keeping.id : '';
    expect(await both.page(id, 'ada', 1, clock.now())).toMatchObject({ text: '{"a":1}' });
    await database.direct.query(
      `UPDATE mcp.kept_result_pages SET sealed = jsonb_set(sealed, '{kid}', '"gone"')`,
    );
    expect(await both.page(id, 'ada', 1, clock.now())).toBeUndefined();
  });
});
