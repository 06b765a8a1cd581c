import { randomUUID } from 'node:crypto';
import { allEngines, openDatabase } from '../../../../test/support/database.js';
import { CallDayStore } from './call-day.store.js';
import type { CallDay } from './call-days.js';
import { newLatency } from './latency.js';

const [A, B] = [randomUUID(), randomUUID()];
const DAY = Math.floor(Date.now() / 86_400_000);

const dayOf = (serverId: string, tool: string, calls: number, day = DAY): CallDay => {
  const latency = newLatency();
  latency[7] = calls;
  return { day, serverId, tool, calls, errors: 1, latency };
};

describe.each(allEngines)('calls by day in %s', (engine) => {
  let opened: Awaited<ReturnType<typeof openDatabase>>;
  let store: CallDayStore;
  beforeAll(async () => {
    opened = await openDatabase(engine);
    store = new CallDayStore(opened.database);
  });
  afterAll(() => opened.close());

  it('are added to what other replicas have counted', async () => {
    await store.add([dayOf(A, 'x', 2), dayOf(A, 'y', 3), dayOf(B, 'x', 5)]);
    await Promise.all([store.add([dayOf(A, 'x', 10)]), store.add([dayOf(A, 'x', 20)])]);
    const filter = { fromDay: DAY, serverId: A };
    const [server] = await store.ofServers(filter);
    expect(server).toMatchObject({ day: DAY, serverId: A, tool: null, calls: 35, errors: 4 });
    expect(server?.latency[7]).toBe(35);
    const tools = await store.ofTools(filter, undefined, 10);
    expect(new Map(tools.days.map(({ tool, calls }) => [tool, calls]))).toEqual(
      new Map([
        ['x', 32],
        ['y', 3],
      ]),
    );
  });

  it('are read of all servers, of one tool, and of the tools that were called most', async () => {
    const filter = { fromDay: DAY, serverId: undefined };
    expect(await store.ofServers(filter)).toHaveLength(2);
    expect((await store.ofTools(filter, 'x', 10)).days).toHaveLength(2);
    expect(await store.ofTools(filter, undefined, 1)).toMatchObject({
      days: [{ tool: 'x', calls: 32 }],
      tools: 3,
    });
    expect(await store.ofServers({ ...filter, fromDay: DAY + 1 })).toEqual([]);
  });

  it('are forgotten with their server, and when they are old', async () => {
    await store.forgetServer(B);
    await store.add([dayOf(B, 'x', 1, 10)]);
    await store.forgetOlderThan(36_000);
    expect(await store.ofServers({ fromDay: 0, serverId: B })).toHaveLength(1);
    await store.forgetOlderThan(1_000);
    expect(await store.ofServers({ fromDay: 0, serverId: B })).toEqual([]);
    expect(await store.ofServers({ fromDay: 0, serverId: A })).toHaveLength(1);
  });
});
