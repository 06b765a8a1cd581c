import { type ConfiguredToken, type KeysetPage, MAX_OFFSET } from '@app/platform';
import { allEngines, openDatabase } from '../../../test/support/database.js';
import { AuditEntity } from './audit/audit.entity.js';
import { AuditStore } from './audit/audit.store.js';
import { TokenStore } from './authenticate/token.store.js';

const token = (name: string, letter: string, ...scopes: ConfiguredToken['scopes']) => ({
  name,
  hash: letter.repeat(64),
  scopes,
});

describe.each(allEngines)('the stores of access on %s', (engine) => {
  let opened: Awaited<ReturnType<typeof openDatabase>>;

  beforeAll(async () => {
    opened = await openDatabase(engine, [AuditEntity]);
  });

  afterAll(() => opened.close());

  describe(TokenStore.name, () => {
    const rows = (): Promise<unknown> =>
      opened.database.direct.query(
        'SELECT name, token_hash AS hash, scopes FROM mcp.api_tokens ORDER BY name',
      );

    it.each([
      ['starts with some', [token('a', '1', 'read'), token('b', '2', 'call', 'admin')]],
      ['changes scopes', [token('a', '1', 'admin'), token('b', '2', 'read')]],
      ['changes a token', [token('a', '3', 'admin'), token('b', '2', 'read')]],
      ['lets two swap their names', [token('a', '2', 'admin'), token('b', '3', 'read')]],
      ['forgets what is configured no more', [token('b', '3', 'read')]],
      ['forgets all', []],
    ])('%s', async (_, tokens) => {
      await new TokenStore(opened.database).replaceAll(tokens);
      expect(await rows()).toEqual(tokens);
    });

    it('gives a token another account with another secret, and keeps that of each other', async () => {
      const store = new TokenStore(opened.database);
      const before = await store.replaceAll([token('a', '1', 'read'), token('b', '2', 'read')]);
      const after = await store.replaceAll([token('a', '1', 'admin'), token('b', '3', 'read')]);
      expect(after.get('a')).toBe(before.get('a'));
      expect(after.get('b')).toEqual(expect.any(String));
      expect(after.get('b')).not.toBe(before.get('b'));
    });

    it('lets replicas write at the same time', async () => {
      const tokens = [token('a', '1', 'read'), token('b', '2', 'call')];
      const store = new TokenStore(opened.database);
      await Promise.all([1, 2, 3].map(() => store.replaceAll(tokens)));
      expect(await rows()).toEqual(tokens);
    });
  });

  describe(AuditStore.name, () => {
    const everything = { event: undefined, serverId: undefined };
    const all = { limit: 500, offset: 0, after: undefined };
    const server = { id: '550e8400-e29b-41d4-a716-446655440000', name: 'github-mcp' };
    const actor = { name: 'user@example.com', ip: '192.168.1.1' };
    let audit: AuditStore;

    beforeAll(async () => {
      audit = new AuditStore(opened.database);
      await audit.record({ event: 'server.registered', actor, server });
      await audit.record({ event: 'access.refused', actor, outcome: 'refused' });
      await audit.record({ event: 'server.removed', actor, server, details: { tools: 3 } });
    });

    const events = async (page: Partial<KeysetPage>): Promise<string[]> =>
      (await audit.page(everything, { ...all, ...page })).rows.map((row) => row.event);

    it('returns entries newest first, in pages', async () => {
      expect(await events({})).toEqual(['server.removed', 'access.refused', 'server.registered']);
      // One more than asked for, which says that there is another page.
      expect(await events({ limit: 1, offset: 1 })).toEqual([
        'access.refused',
        'server.registered',
      ]);
      expect((await audit.page(everything, { ...all, limit: 1 })).counted).toBe(3);
      const [first] = (await audit.page(everything, all)).rows;
      expect(await events({ after: first?.id })).toEqual(['access.refused', 'server.registered']);
    });

    it('counts no further than the maximum offset', async () => {
      await opened.database.direct.query(
        `INSERT INTO mcp.audit_log (event, outcome, actor, timestamp)
         SELECT 'many', 'success', 'system', now() - interval '91 days' FROM generate_series(1, 12000)`,
      );
      expect((await audit.page(everything, all)).counted).toBe(MAX_OFFSET + 1);
      await opened.database.direct.query(`DELETE FROM mcp.audit_log WHERE event = 'many'`);
    });

    it('filters by event and server', async () => {
      const byServer = await audit.page({ ...everything, serverId: server.id }, all);
      expect(byServer.rows.map((row) => row.event)).toEqual([
        'server.removed',
        'server.registered',
      ]);
      const byBoth = await audit.page({ event: 'server.registered', serverId: server.id }, all);
      expect(byBoth.rows).toEqual([
        expect.objectContaining({
          actor: actor.name,
          ipAddress: actor.ip,
          serverName: server.name,
        }),
      ]);
    });

    it('deletes all older entries in batches', async () => {
      await opened.database.direct.query(
        `INSERT INTO mcp.audit_log (event, outcome, actor, timestamp)
         SELECT 'old', 'success', 'system', now() - interval '91 days' FROM generate_series(1, 12000)`,
      );
      await audit.forgetOlderThan(90);
      expect((await audit.page(everything, all)).counted).toBe(3);
    });

    it('keeps the newest calls, however many there are, and everything that is no call', async () => {
      await opened.database.direct.query(
        `INSERT INTO mcp.audit_log (event, outcome, actor, details)
         SELECT 'tool.called', 'success', 'caller', jsonb_build_object('n', n)
         FROM generate_series(1, 12000) n`,
      );
      await audit.forgetCallsBeyond(100);
      const calls = await audit.page({ event: 'tool.called', serverId: undefined }, all);
      expect(calls.rows.map(({ details }) => details)).toEqual(
        Array.from({ length: 100 }, (_, i) => ({ n: 12_000 - i })),
      );
      expect((await audit.page(everything, all)).counted).toBe(103);
    });
  });
});
