import { allEngines, openDatabase } from '../../../test/support/database.js';
import { eventually } from '../../../test/support/eventually.js';
import { postgresVersions } from '../../../test/support/postgres.js';
import type { CredentialVault } from './credentials/credential-vault.js';
import { ServerEntity } from './server.entity.js';
import { ServerStore } from './server.store.js';

/** Stands for encryption: the stored text and its key. */
const vaultWith = (key: string): CredentialVault =>
  ({
    seal: (text: string) => ({ key, text }),
    open: ({ text }: { text: string }) => text,
  }) as unknown as CredentialVault;

describe.each(allEngines)('rows of servers on %s', (engine) => {
  let opened: Awaited<ReturnType<typeof openDatabase>>;
  beforeAll(async () => {
    opened = await openDatabase(engine, [ServerEntity]);
  });
  afterAll(() => opened.close());

  it('have an id without being given one', async () => {
    const rows = await opened.database.direct.query<{ id: string }[]>(
      `INSERT INTO mcp.external_servers (name, transport_type, connection_config)
       VALUES ('one', 'HTTP', '{}'), ('two', 'HTTP', '{}') RETURNING id`,
    );
    expect(new Set(rows.map(({ id }) => id)).size).toBe(2);
    for (const { id } of rows) expect(id).toMatch(/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/);
  });
});

describe.each(postgresVersions)('a rotation of the credential key on %s', (version) => {
  it('keeps what a running replica changes meanwhile', async () => {
    const { database, close } = await openDatabase(version, [ServerEntity]);
    const [row] = await database.direct.query<{ id: string }[]>(
      `INSERT INTO mcp.external_servers (name, transport_type, connection_config)
       VALUES ('one', 'HTTP', '{"key": "old", "text": "{\\"base_url\\":\\"https://one.example/before\\"}"}') RETURNING id`,
    );
    let commit: (() => void) | undefined;
    const change = database.transaction(async (tx) => {
      await tx.query(
        `UPDATE mcp.external_servers
         SET connection_config = '{"key": "old", "text": "{\\"base_url\\":\\"https://one.example/after\\"}"}'`,
      );
      await new Promise<void>((resolve) => (commit = resolve));
    });
    await eventually(() => expect(commit).toBeDefined());
    const rotating = database.background.transaction((tx) =>
      new ServerStore(database, vaultWith('new')).resealAll(tx),
    );
    await eventually(async () =>
      expect(
        await database.direct.query(
          `SELECT 1 AS waits FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        ),
      ).toEqual([{ waits: 1 }]),
    );
    commit?.();
    await change;
    expect(await rotating).toBe(1);
    expect(
      await database.direct.query(
        'SELECT id, connection_config AS config FROM mcp.external_servers',
      ),
    ).toEqual([{ id: row?.id, config: { key: 'new', text: expect.stringContaining('/after') } }]);
    await close();
  });
});
