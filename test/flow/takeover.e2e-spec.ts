import { CommandBus } from '@nestjs/cqrs';
import { Database } from '@app/platform';
import { SessionPool } from '@app/sessions';
import { ReconcileSessions } from '../../libs/sessions/src/reconcile/reconcile-sessions.command.js';
import { Api, callTool as call } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { startHoldingServer } from '../support/holding-server.js';
import { fixture, type HttpPeer, httpPeer } from '../support/peers.js';
import { createDatabase } from '../support/postgres.js';

const CONNECTED_ONCE = ['REGISTERED', 'CONNECTING', 'CONNECTED'];
/** With a session at every replica. */
const CALLED = ['program', 'streamable', 'sse', 'held'];
const poolOf = ({ app }: TestApp): SessionPool => app.get(SessionPool);

describe('three replicas of which the leader stops', () => {
  const ids = new Map<string, string>();
  const idOf = (name: string): string => ids.get(name) ?? name;
  let leader: TestApp;
  let survivors: TestApp[];
  let peers: HttpPeer[];
  let held: Awaited<ReturnType<typeof startHoldingServer>>;
  let lost: Awaited<ReturnType<typeof startHoldingServer>>;
  const stops: (() => Promise<void>)[] = [];

  const sessions = (): unknown[] =>
    survivors.flatMap((one) => CALLED.map((name) => poolOf(one).get(idOf(name))));
  const successor = (): TestApp => {
    const one = survivors.find((app) => poolOf(app).leads);
    if (!one) throw new Error('no replica leads');
    return one;
  };
  /** Each compares its sessions with the rows. */
  const compare = async (): Promise<void> => {
    for (const { app } of survivors) await app.get(CommandBus).execute(new ReconcileSessions());
  };
  const register = async (name: string, transport_type: string, config: object): Promise<void> => {
    const body = { name, transport_type, connection_config: config };
    const id = await new Api(leader).register(body);
    ids.set(name, id);
  };

  beforeAll(async () => {
    const settings = {
      DATABASE_URL: await createDatabase(),
      MCP_AGGREGATOR_HEALTH_INTERVAL: '0.2',
      MCP_AGGREGATOR_ALLOW_INSECURE_HTTP: 'true',
      MCP_AGGREGATOR_STDIO_PER_REPLICA: 'true',
    };
    for (let i = 0; i < 3; i++) {
      const app = await startApp(settings);
      stops.push(app.close);
      if (i === 0) leader = app;
      else survivors = [...(survivors ?? []), app];
    }
    peers = [await httpPeer('peer-v1.mjs', ['http']), await httpPeer('peer-v1.mjs', ['sse'])];
    held = await startHoldingServer();
    lost = await startHoldingServer();
    const program = { command: process.execPath, args: [fixture('peer-v1.mjs'), 'stdio'] };
    await register('program', 'STDIO', program);
    await register('unused', 'STDIO', program);
    await register('streamable', 'HTTP', { base_url: peers[0]?.url });
    await register('sse', 'SSE', { url: peers[1]?.url });
    await register('held', 'HTTP', { base_url: held.url });
    await register('lost', 'HTTP', { base_url: lost.url });
    await eventually(async () => {
      const statuses = Object.values(await new Api(leader).statuses());
      expect(statuses).toEqual(Array.from(ids, () => 'CONNECTED'));
    });
    for (const survivor of survivors) {
      for (const name of ['program', 'streamable', 'sse']) {
        await eventually(async () =>
          expect(await call(survivor, `${name}.echo`)).toMatchObject({ status: 200 }),
        );
      }
    }
  });
  afterAll(async () => {
    for (const stop of stops.slice(1)) await stop();
    for (const peer of peers) await peer.stop();
    held.close();
  });

  it('lose no call, and neither close nor open the sessions that they have', async () => {
    const long = survivors.map((one) => call(one, 'held.wait'));
    await eventually(() => expect(held.held()).toBe(2));
    const before = sessions();
    expect(before).not.toContain(undefined);

    let isOver = false;
    const failed: unknown[] = [];
    const callAll = async (survivor: TestApp): Promise<void> => {
      while (!isOver) {
        for (const name of ['program', 'streamable', 'sse', 'unused']) {
          const { status } = await call(survivor, `${name}.echo`);
          // A call waits 5 s for a session; starting the program of `unused` may take longer on a slow machine.
          const isLate = name === 'unused' && status === 503;
          if (status !== 200 && !isLate) failed.push([name, status]);
        }
      }
    };
    const callers = survivors.map(callAll);
    await leader.close();
    lost.close();
    await eventually(() => successor());
    await compare();
    await compare();
    isOver = true;
    await Promise.all(callers);

    expect(failed).toEqual([]);
    expect(sessions()).toEqual(before);
    held.release();
    for (const { status } of await Promise.all(long)) expect(status).toBe(200);
  });

  it('write nothing about servers that stay connected', async () => {
    const api = new Api(successor());
    await eventually(() => expect(poolOf(successor()).get(idOf('unused'))).toBeDefined());
    for (const name of [...CALLED, 'unused']) {
      expect([name, await api.status(idOf(name))]).toEqual([name, 'CONNECTED']);
      expect([name, await api.history(idOf(name))]).toEqual([name, CONNECTED_ONCE]);
    }
  });

  it('write that a server is lost once connecting failed', async () => {
    const api = new Api(successor());
    await eventually(async () => {
      const history = await api.history(idOf('lost'));
      expect(history.slice(0, 5)).toEqual([...CONNECTED_ONCE, 'ERROR', 'RECONNECT']);
    });
  });

  it('keep a session that the rows do not show, and write CONNECTED', async () => {
    const api = new Api(successor());
    const id = idOf('program');
    const before = poolOf(successor()).get(id);
    for (const status of ['ERROR', 'CONNECTING', 'DISCONNECTED']) {
      await successor()
        .app.get(Database)
        .direct.query('UPDATE mcp.external_servers SET status = $2 WHERE id = $1', [id, status]);
      await eventually(async () => expect(await api.status(id)).toBe('CONNECTED'));
    }
    expect(poolOf(successor()).get(id)).toBe(before);
    expect(await api.history(id)).not.toContain('DISCONNECTED');
  });

  it('close every session with a configuration that was changed', async () => {
    const before = survivors.map((one) => poolOf(one).get(idOf('program')));
    const args = [fixture('peer-v1.mjs'), 'stdio', 'again'];
    await new Api(successor()).call('PATCH', `/servers/${idOf('program')}`, {
      connection_config: { command: process.execPath, args },
    });
    await eventually(() => {
      const after = survivors.map((one) => poolOf(one).get(idOf('program')));
      for (const [i, session] of after.entries()) expect(session).not.toBe(before[i]);
    });
    for (const one of survivors) {
      await eventually(async () =>
        expect(await call(one, 'program.echo')).toMatchObject({ status: 200 }),
      );
    }
  });
});
