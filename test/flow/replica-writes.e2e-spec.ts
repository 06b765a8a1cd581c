import { SessionPool } from '@app/sessions';
import { Api, callTool as call } from '../support/api.js';
import { startApp, stopIntervals, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { type HoldingServer, startHoldingServer } from '../support/holding-server.js';
import type { Answer } from '../support/http.js';
import { fixture, nodesWith, processesWith } from '../support/peers.js';
import { createDatabase } from '../support/postgres.js';

const MARK = `SWITCHBOARD_TEST_MARK=replica-writes-${process.pid}-${Date.now()}`;
const [markName = '', markValue = ''] = MARK.split('=');
const program = (...more: string[]): object => ({
  command: process.execPath,
  args: [fixture('peer-v1.mjs'), 'stdio', ...more],
  env: { [markName]: markValue },
});
const poolOf = ({ app }: TestApp): SessionPool => app.get(SessionPool);

describe('what is written at one of three replicas', () => {
  let leader: TestApp;
  let follower: TestApp;
  let other: TestApp;
  let held: HoldingServer;
  let programId: string;
  let heldId: string;
  const all = (): TestApp[] => [leader, follower, other];

  const callable = (name: string): Promise<void[]> =>
    Promise.all(
      all().map((one) =>
        eventually(async () => expect(await call(one, name)).toMatchObject({ status: 200 })),
      ),
    );
  const sessionsOf = (id: string): boolean[] =>
    all().map((one) => poolOf(one).get(id) !== undefined);
  /** A call at each replica that runs until it is answered or cancelled. */
  const holdAtAll = async (): Promise<Promise<Answer>[]> => {
    const before = held.held();
    const running = all().map((one) => call(one, 'held.wait'));
    await eventually(() => expect(held.held()).toBe(before + running.length));
    return running;
  };

  beforeAll(async () => {
    const settings = {
      DATABASE_URL: await createDatabase(),
      MCP_AGGREGATOR_ALLOW_INSECURE_HTTP: 'true',
    };
    leader = await startApp(settings);
    follower = await startApp(settings);
    other = await startApp(settings);
    held = await startHoldingServer();
    await eventually(() =>
      expect(all().map((one) => poolOf(one).leads)).toEqual([true, false, false]),
    );
    for (const one of all()) stopIntervals(one);
  });
  afterAll(async () => {
    for (const one of all().toReversed()) await one.close();
    held.close();
    await eventually(() => expect(processesWith(MARK)).toEqual([]));
  });

  it('can be called at every replica when a follower registers it', async () => {
    const api = new Api(follower);
    programId = await api.register({
      name: 'program',
      transport_type: 'STDIO',
      connection_config: program(),
    });
    heldId = await api.register({
      name: 'held',
      transport_type: 'HTTP',
      connection_config: { base_url: held.url },
    });
    await callable('program.echo');
    await eventually(async () => expect(await api.status(heldId)).toBe('CONNECTED'));
  });

  it('reaches every session, when a follower changed the configuration', async () => {
    const before = all().map((one) => poolOf(one).get(programId));
    await new Api(follower).call('PATCH', `/servers/${programId}`, {
      connection_config: program('changed'),
    });
    await eventually(() => {
      for (const [i, one] of all().entries()) {
        expect(poolOf(one).get(programId)).not.toBe(before[i]);
      }
    });
    await callable('program.echo');
  });

  it.each([
    ['the leader', (): TestApp => leader],
    ['a follower', (): TestApp => follower],
  ])('ends serving everywhere, when %s disconnected it', async (_, at) => {
    await callable('program.echo');
    expect(sessionsOf(programId)).toEqual([true, true, true]);
    await new Api(at()).call('POST', `/servers/${programId}/disconnect`);
    await eventually(() => expect(nodesWith(MARK)).toEqual([]));
    for (const one of all()) {
      await eventually(async () => {
        const answer = await call(one, 'program.echo');
        expect(answer).toMatchObject({
          status: 503,
          body: { server: { status: 'DISCONNECTED' } },
        });
      });
    }
    // Followers have sessions to the leader, whose process has ended already.
    await eventually(() => expect(sessionsOf(programId)).toEqual([false, false, false]));
    await new Api(follower).call('POST', `/servers/${programId}/connect?wait_seconds=60`);
    await callable('program.echo');
  });

  it.each([
    ['the leader', (): TestApp => leader],
    ['a follower', (): TestApp => follower],
  ])(
    'cancels the calls that run everywhere with one error, when %s was forced to disconnect',
    async (_, at) => {
      const running = await holdAtAll();
      await new Api(at()).call('POST', `/servers/${heldId}/disconnect`, { force: true });
      const [own, ...others] = (await Promise.all(running)).map(({ status, body }) => ({
        status,
        ...(body as { code: unknown; message: unknown; context: unknown }),
      }));
      expect(own).toMatchObject({ status: 503, context: { outcome: 'unknown' } });
      for (const answer of others) {
        expect([answer.status, answer.code, answer.context]).toEqual([
          own?.status,
          own?.code,
          own?.context,
        ]);
      }
      await eventually(() => expect(held.held()).toBe(0));
      await new Api(follower).call('POST', `/servers/${heldId}/connect?wait_seconds=60`);
    },
  );

  it('keeps every session, when it was connected again while calls end', async () => {
    const running = await holdAtAll();
    const before = all().map((one) => poolOf(one).get(heldId));
    await new Api(other).call('POST', `/servers/${heldId}/disconnect`);
    await eventually(() => expect(sessionsOf(heldId)).toEqual([false, false, false]));
    await new Api(follower).call('POST', `/servers/${heldId}/connect?wait_seconds=60`);
    await eventually(() => expect(all().map((one) => poolOf(one).get(heldId))).toEqual(before));
    expect(held.held()).toBe(3);
    held.release();
    for (const { status } of await Promise.all(running)) expect(status).toBe(200);
    expect(await new Api(other).status(heldId)).toBe('CONNECTED');
  });

  it('lets calls at other replicas end, when it was disconnected without force', async () => {
    await eventually(() => expect(poolOf(leader).get(heldId)).toBeDefined());
    const running = call(other, 'held.wait');
    await eventually(() => expect(held.held()).toBe(1));
    await new Api(leader).call('POST', `/servers/${heldId}/disconnect`);
    await eventually(() => expect(poolOf(other).get(heldId)).toBeUndefined());
    expect(held.held()).toBe(1);
    held.release();
    expect(await running).toMatchObject({ status: 200 });
    await eventually(() => expect(poolOf(other).isKept(heldId)).toBe(false));
  });

  it('disappears at every replica when a follower removes it', async () => {
    await callable('program.echo');
    await new Api(follower).call('DELETE', `/servers/${programId}`);
    await eventually(() => expect(nodesWith(MARK)).toEqual([]));
    await eventually(() => {
      expect(all().map((one) => poolOf(one).isKept(programId))).toEqual([false, false, false]);
    });
  });
});
