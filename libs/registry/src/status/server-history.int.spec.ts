import { Logger } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { allEngines, openDatabase } from '../../../../test/support/database.js';
import type { CredentialVault } from '../credentials/credential-vault.js';
import { ServerEntity } from '../server.entity.js';
import { ServerStore } from '../server.store.js';
import { ChangeServerStatus, ChangeServerStatusHandler } from './change-server-status.command.js';

describe.each(allEngines)('the history of a server on %s', (engine) => {
  let opened: Awaited<ReturnType<typeof openDatabase>>;
  let servers: ServerStore;
  beforeAll(async () => {
    opened = await openDatabase(engine, [ServerEntity]);
    servers = new ServerStore(opened.database, {} as CredentialVault);
  });
  afterAll(() => opened.close());

  async function serverWith(entries: number): Promise<string> {
    const id = randomUUID();
    const { direct } = opened.database;
    await direct.query(
      `INSERT INTO mcp.external_servers (id, name, transport_type, connection_config)
       VALUES ($1, $2, 'HTTP', '{}')`,
      [id, `server-${id}`],
    );
    await direct.query(
      `INSERT INTO mcp.server_connection_history (server_id, event_type, details)
       SELECT $1, 'CONNECTED', jsonb_build_object('n', n) FROM generate_series(1, $2::int) n`,
      [id, entries],
    );
    return id;
  }
  const page = { limit: 500, offset: 0, after: undefined };

  it('keeps the newest thousand entries of a server that reconnects often', async () => {
    const flapping = await serverWith(1_500);
    const steady = await serverWith(1_200);
    for (const n of [1_501, 1_502]) {
      await servers.addHistory(flapping, 'ERROR', { n }, opened.database.direct);
    }
    const { rows, counted } = await servers.history(flapping, page);
    expect(counted).toBe(1_000);
    expect(rows.slice(0, 3).map(({ details }) => details)).toEqual([
      { n: 1_502 },
      { n: 1_501 },
      { n: 1_500 },
    ]);
    expect((await servers.history(steady, page)).counted).toBe(1_200);
  });

  const handler = (): ChangeServerStatusHandler =>
    new ChangeServerStatusHandler(
      opened.database,
      servers,
      { redact: (_: string, text: string) => Promise.resolve(text) } as never,
      { tell: () => Promise.resolve() } as never,
      { now: () => new Date() } as never,
      { fence: () => Promise.resolve() } as never,
    );

  it('warns of a transition that the table does not have, and changes nothing but the wish', async () => {
    const id = await serverWith(0);
    const warned: unknown[][] = [];
    Logger.overrideLogger({
      log: () => undefined,
      error: () => undefined,
      warn: (...said: unknown[]) => warned.push(said),
    });
    const refused = new ChangeServerStatus(id, 'connected', { wanted: true });
    expect(await handler().execute(refused)).toBeUndefined();
    expect(warned).toEqual([
      [
        { server: `server-${id}`, server_id: id, status: 'DISCONNECTED', signal: 'connected' },
        'server.transition_refused',
        ChangeServerStatus.name,
      ],
    ]);
    const { direct } = opened.database;
    expect(
      await direct.query('SELECT status, wanted FROM mcp.external_servers WHERE id = $1', [id]),
    ).toEqual([{ status: 'DISCONNECTED', wanted: true }]);
    expect((await servers.history(id, page)).counted).toBe(0);
  });

  it('says in its row why it failed, until it is connected again', async () => {
    const id = await serverWith(0);
    const status = handler();
    const messageAfter = async (
      ...[signal, reason]: ['connect' | 'connected' | 'failed', string?]
    ) => {
      await status.execute(new ChangeServerStatus(id, signal, reason ? { reason } : {}));
      const rows: { error_message: string | null }[] = await opened.database.direct.query(
        'SELECT error_message FROM mcp.external_servers WHERE id = $1',
        [id],
      );
      return rows[0]?.error_message;
    };
    expect(await messageAfter('connect')).toBeNull();
    expect(await messageAfter('connected')).toBeNull();
    expect(await messageAfter('failed', 'no answer')).toBe('no answer');
    expect(await messageAfter('connect')).toBe('no answer');
    expect(await messageAfter('connected')).toBeNull();
  });

  it('marks every attempt that follows a failure as a reconnect', async () => {
    const id = await serverWith(0);
    const status = handler();
    const failed = { reason: 'no answer', details: { code: 'HEALTH_CHECK_FAILED' } };
    await status.execute(new ChangeServerStatus(id, 'connect'));
    await status.execute(new ChangeServerStatus(id, 'connected'));
    await status.execute(new ChangeServerStatus(id, 'failed', failed));
    await status.execute(new ChangeServerStatus(id, 'connect'));
    await status.execute(new ChangeServerStatus(id, 'connection-failed', { reason: 'refused' }));
    await status.execute(new ChangeServerStatus(id, 'connect', { wanted: true }));
    const { rows } = await servers.history(id, page);
    expect(rows.map(({ eventType, details }) => [eventType, details]).reverse()).toEqual([
      ['CONNECTING', { from: 'DISCONNECTED' }],
      ['CONNECTED', { from: 'CONNECTING' }],
      ['ERROR', { from: 'CONNECTED', ...failed.details, reason: 'no answer' }],
      ['RECONNECT', { from: 'ERROR' }],
      ['CONNECTING', { from: 'ERROR' }],
      ['ERROR', { from: 'CONNECTING', reason: 'refused' }],
      ['RECONNECT', { from: 'ERROR' }],
      ['CONNECTING', { from: 'ERROR' }],
    ]);
  });

  it('keeps all entries of a server that has fewer', async () => {
    const id = await serverWith(3);
    await servers.addHistory(id, 'ERROR', {}, opened.database.direct);
    expect((await servers.history(id, page)).counted).toBe(4);
  });
});
