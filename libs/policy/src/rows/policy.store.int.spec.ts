import { allEngines, openDatabase } from '../../../../test/support/database.js';
import { PolicySnapshot } from './policy-snapshot.js';
import { PolicyStore } from './policy.store.js';

describe.each(allEngines)(`${PolicyStore.name} on %s`, (engine) => {
  let opened: Awaited<ReturnType<typeof openDatabase>>;
  let store: PolicyStore;

  beforeAll(async () => {
    opened = await openDatabase(engine);
    store = new PolicyStore(opened.database);
  });
  afterAll(() => opened.close());

  it('finds rows as they were read until they change, or go with their server', async () => {
    const { direct } = opened.database;
    const [server] = await direct.query<{ id: string }[]>(
      `INSERT INTO mcp.external_servers (name, transport_type, connection_config)
       VALUES ('garden', 'STDIO', '{}') RETURNING id`,
    );
    if (!server) throw new Error('no row was inserted');
    const before = new PolicySnapshot(await store.readUndisturbed());
    expect(await store.isAsRead(before)).toBe(true);

    const [view] = [...before.viewsById.values()];
    if (!view) throw new Error('there is no view');
    const rule = { effect: 'include', kind: 'tool', namePattern: 'get_*' } as const;
    const rules = [{ ...rule, serverId: server.id, skillId: null, annotation: null }];
    await opened.database.transaction(async (tx) => {
      await store.saveView({ ...view, rules }, tx);
      await store.advance(tx);
    });
    expect(await store.isAsRead(before)).toBe(false);

    const changed = new PolicySnapshot(await store.readUndisturbed());
    expect(await store.isAsRead(changed)).toBe(true);
    await direct.query('DELETE FROM mcp.external_servers WHERE id = $1', [server.id]);
    expect(await store.isAsRead(changed)).toBe(false);
  });

  it('keeps the newest 100,000 changes of the history', async () => {
    const { direct } = opened.database;
    const note = (subject: string): Promise<void> =>
      store.note(
        { change: 'view.created', subject, before: null, after: null, actor: 'system' },
        direct,
      );
    await note('old');
    await direct.query('ALTER TABLE mcp.policy_history ALTER COLUMN id RESTART WITH 100001');
    await note('new');
    await note('newer');
    const subjects = (await store.history(10, undefined)).map(({ subject }) => subject);
    expect(subjects).toEqual(['newer', 'new']);
  });
});
