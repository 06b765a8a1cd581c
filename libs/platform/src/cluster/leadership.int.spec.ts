import { createServer } from 'node:net';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { openDatabase } from '../../../../test/support/database.js';
import { testEnv } from '../../../../test/support/env.js';
import { eventually } from '../../../../test/support/eventually.js';
import { FaultProxy } from '../../../../test/support/fault-proxy.js';
import { postgresVersions } from '../../../../test/support/postgres.js';
import type { Database } from '../database/database.js';
import { ControlConnection } from './control-connection.js';
import { Leadership, LEADS_MS, NotLeading } from './leadership.js';
import type { PeerPulse } from './peer-pulse.js';
import { Peers } from './peers.js';

describe.each(postgresVersions)(`${Leadership.name} on %s`, (version) => {
  let opened: { database: Database; url: string; close: () => Promise<void> };
  const closing: (() => unknown)[] = [];

  beforeEach(async () => {
    opened = await openDatabase(version);
  });
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
    await opened.close();
  });

  /** Who says that it leads, when replicas are asked. */
  let sayingLeader: string | undefined;
  const pulse: Pick<PeerPulse, 'leader' | 'askOnce'> = {
    leader: () => Promise.resolve(sayingLeader),
    askOnce: () => Promise.resolve('silent'),
  };

  async function replica(url = opened.url, address?: string) {
    const clock = new FakeClock();
    const env = testEnv('unused', {
      DATABASE_URL: url,
      MCP_CREDENTIAL_KEY: 'a-key-for-this-test-only',
    });
    const control = new ControlConnection(clock, env);
    const peers = new Peers(control, clock, env);
    peers.url = address;
    const leadership = new Leadership(control, clock, peers, pulse as PeerPulse);
    const heard: boolean[] = [];
    leadership.onChange((leads) => heard.push(leads));
    closing.push(() => control.onApplicationShutdown());
    await control.onModuleInit();
    return { clock, control, leadership, heard, id: peers.self, peers };
  }
  /** A replica that started as the service does, with an address that accepts connections until `unlisten`. */
  async function started() {
    const listener = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    const unlisten = (): Promise<unknown> => new Promise((resolve) => listener.close(resolve));
    closing.push(unlisten);
    const address = listener.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const one = await replica(opened.url, `http://127.0.0.1:${port}`);
    await one.leadership.onApplicationBootstrap();
    closing.push(() => one.leadership.onApplicationShutdown());
    return { ...one, unlisten, disconnect: () => one.control.onApplicationShutdown() };
  }
  /** The others have seen that the leader can be reached. */
  async function leaderAnd(others: number) {
    const leader = await started();
    const followers = await Promise.all(Array.from({ length: others }, () => started()));
    for (const { leadership } of followers) expect(await leadership.refresh()).toBe(false);
    return { leader, followers };
  }
  const locks = () =>
    opened.database.direct.query<unknown[]>(
      `SELECT 1 FROM pg_locks WHERE locktype = 'advisory'
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    );
  const disconnected = (left: number) =>
    eventually(async () => expect(await locks()).toHaveLength(left));
  /** What PostgreSQL sees when the lease was not renewed for its whole time. */
  const runOut = () =>
    opened.database.direct.query(`UPDATE mcp.leader_lease SET expires_at = clock_timestamp()`);
  const fenced = (leadership: Leadership): Promise<string> =>
    opened.database.transaction(async (tx) => {
      await leadership.fence(tx);
      return 'written';
    });

  it('is of one process at a time, and renewed by it', async () => {
    const [one, other] = [await replica(), await replica()];
    expect(await one.leadership.refresh()).toBe(true);
    expect(await other.leadership.refresh()).toBe(false);
    expect(await one.leadership.refresh()).toBe(true);
    expect([one.heard, other.heard]).toEqual([[true], []]);
    await expect(fenced(one.leadership)).resolves.toBe('written');
    await expect(fenced(other.leadership)).rejects.toThrow(NotLeading);
  });

  it('of ten that ask at the same moment goes to one', async () => {
    const replicas = await Promise.all(Array.from({ length: 10 }, () => replica()));
    const leads = await Promise.all(replicas.map(({ leadership }) => leadership.refresh()));
    expect(leads.filter(Boolean)).toHaveLength(1);
  });

  it('passes on at once when the leader resigns, who never leads again', async () => {
    const [one, other] = [await replica(), await replica()];
    await one.leadership.refresh();
    await one.leadership.resign();
    expect(await other.leadership.refresh()).toBe(true);
    expect(await one.leadership.refresh()).toBe(false);
    await runOut();
    expect(await one.leadership.refresh()).toBe(false);
  });

  it('is taken by another as soon as the leader resigns', async () => {
    const [one, other] = [await replica(), await replica()];
    await one.leadership.refresh();
    await other.leadership.onApplicationBootstrap();
    closing.push(() => other.leadership.onApplicationShutdown());
    expect(other.leadership.leads).toBe(false);
    await one.leadership.resign();
    // Its clock stands still, so that it does not ask by itself.
    await eventually(() => expect(other.leadership.leads).toBe(true));
  });

  it('is asked for when it runs out, not at the next heartbeat', async () => {
    const [one, other] = [await replica(), await replica()];
    await one.leadership.refresh();
    await other.leadership.onApplicationBootstrap();
    closing.push(() => other.leadership.onApplicationShutdown());
    await opened.database.direct.query(
      `UPDATE mcp.leader_lease SET expires_at = clock_timestamp() + interval '300 milliseconds'`,
    );
    await other.leadership.refresh();
    await other.clock.advance(2_000);
    await eventually(() => expect(other.clock.nextWakeMs).toBeLessThan(500));
  });

  it('is known from other replicas while the database does not answer, but not as from the rows', async () => {
    const proxy = await FaultProxy.before(opened.url);
    const one = await replica(proxy.urlOf(opened.url));
    closing.push(() => proxy.close());
    await one.leadership.refresh();
    await one.clock.advance(LEADS_MS);
    await started();
    sayingLeader = (await started()).id;
    proxy.fault = { refuse: true };
    proxy.breakAll();
    await eventually(async () => expect(await one.leadership.refresh()).toBe(false));
    expect(one.peers.leaderId).toBe(sayingLeader);
    expect(one.peers.isLeaderInRows).toBe(false);
  });

  it('ends by the clock of a process that cannot renew it', async () => {
    const one = await replica();
    await one.leadership.refresh();
    await one.clock.advance(LEADS_MS - 1);
    expect(one.leadership.leads).toBe(true);
    await one.clock.advance(1);
    expect(one.leadership.leads).toBe(false);
    await expect(fenced(one.leadership)).rejects.toThrow(NotLeading);
  });

  it('is told to have ended at that moment, without a question', async () => {
    const one = await replica();
    await one.leadership.refresh();
    await one.clock.advance(LEADS_MS);
    expect(one.heard).toEqual([true, false]);
  });

  it('ends what may run only at the leader, at the latest by its clock', async () => {
    const [one, other] = [await started(), await started()];
    await one.leadership.refresh();
    const tenure = one.leadership.currentTenure();
    expect(other.leadership.currentTenure()).toBeUndefined();
    expect([tenure?.isOver, tenure?.ended.aborted]).toEqual([false, false]);
    await one.disconnect();
    await one.clock.advance(LEADS_MS);
    expect([tenure?.isOver, tenure?.ended.aborted]).toEqual([true, true]);
    expect(await other.leadership.refresh()).toBe(false);
    await runOut();
    expect(await other.leadership.refresh()).toBe(true);
    expect(other.leadership.currentTenure()?.isOver).toBe(false);
  });

  it('lets run what runs at a replica that is alone, until another has taken over', async () => {
    const one = await replica();
    await one.leadership.refresh();
    const tenure = one.leadership.currentTenure();
    await one.clock.advance(LEADS_MS);
    expect([one.leadership.leads, tenure?.isOver]).toEqual([false, false]);
    const other = await replica();
    await runOut();
    expect(await other.leadership.refresh()).toBe(true);
    await one.leadership.refresh();
    expect([tenure?.isOver, tenure?.ended.aborted]).toEqual([true, true]);
  });

  it('lets run what runs at a replica that has resigned', async () => {
    const [one, other] = [await started(), await started()];
    await one.leadership.refresh();
    const tenure = one.leadership.currentTenure();
    await one.leadership.resign();
    expect(await other.leadership.refresh()).toBe(true);
    expect(tenure?.isOver).toBe(false);
  });

  it('refuses what a former leader writes that does not know it yet', async () => {
    const [one, other] = [await replica(), await replica()];
    await one.leadership.refresh();
    await runOut();
    expect(await other.leadership.refresh()).toBe(true);
    expect(one.leadership.leads).toBe(true);
    await expect(fenced(one.leadership)).rejects.toThrow(NotLeading);
    expect(await one.leadership.refresh()).toBe(false);
    expect(one.heard).toEqual([true, false]);
  });

  it('is not taken over while a fenced write is under way, and renewed meanwhile', async () => {
    const [one, other] = [await replica(), await replica()];
    await one.leadership.refresh();
    let taken: Promise<boolean> | undefined;
    const order: string[] = [];
    await opened.database.transaction(async (tx) => {
      await one.leadership.fence(tx);
      await one.leadership.refresh();
      await runOut();
      taken = other.leadership.refresh().then((leads) => {
        order.push('taken');
        return leads;
      });
      await eventually(async () => {
        const waiting = await opened.database.direct.query<unknown[]>(
          `SELECT 1 FROM pg_locks WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) OR NOT granted AND locktype = 'transactionid'`,
        );
        expect(waiting.length).toBeGreaterThan(0);
      });
      order.push('written');
    });
    await expect(taken).resolves.toBe(true);
    expect(order).toEqual(['written', 'taken']);
  });

  it('is taken over before the lease has run out when the process of the leader was killed', async () => {
    const { leader, followers } = await leaderAnd(3);
    await Promise.all([leader.unlisten(), leader.disconnect()]);
    await disconnected(3);
    const leads = await Promise.all(followers.map(({ leadership }) => leadership.refresh()));
    expect(leads.filter(Boolean)).toHaveLength(1);
    await expect(fenced(leader.leadership)).rejects.toThrow(NotLeading);
    const [next] = followers.filter(({ leadership }) => leadership.leads);
    const rows = await opened.database.direct.query<{ id: string }[]>(
      'SELECT id FROM mcp.replicas',
    );
    expect(rows.map(({ id }) => id).sort()).toEqual(followers.map(({ id }) => id).sort());
    await expect(fenced(next?.leadership ?? leader.leadership)).resolves.toBe('written');
  });

  it('is not taken over while the process of the leader accepts connections', async () => {
    const { leader, followers } = await leaderAnd(1);
    await leader.disconnect();
    await disconnected(1);
    expect(await followers[0]?.leadership.refresh()).toBe(false);
    await expect(fenced(leader.leadership)).resolves.toBe('written');
    await leader.unlisten();
    expect(await followers[0]?.leadership.refresh()).toBe(true);
  });

  it('is not taken over while the leader is connected to PostgreSQL', async () => {
    const { leader, followers } = await leaderAnd(1);
    await leader.unlisten();
    expect(await followers[0]?.leadership.refresh()).toBe(false);
    expect(await leader.leadership.refresh()).toBe(true);
  });

  it('is not taken over early from a leader that was never reached', async () => {
    const leader = await started();
    await leader.unlisten();
    const other = await started();
    await leader.disconnect();
    await disconnected(1);
    expect(await other.leadership.refresh()).toBe(false);
    await runOut();
    expect(await other.leadership.refresh()).toBe(true);
  });

  it('is asked for again on a new connection when the network swallowed the old one', async () => {
    const proxy = await FaultProxy.before(opened.url);
    const one = await replica(proxy.urlOf(opened.url));
    closing.push(() => proxy.close());
    await one.leadership.refresh();
    proxy.fault = { blackhole: true };
    const asked = one.leadership.refresh();
    await one.clock.advance(2_000);
    await asked;
    proxy.fault = {};
    await eventually(async () => {
      await one.clock.advance(1_000);
      expect(await one.leadership.refresh()).toBe(true);
    });
  });
});
