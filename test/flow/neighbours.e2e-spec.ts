import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http.js';
import { fixture } from '../support/peers.js';

const GOOD = 6;
const ROUNDS = 150;
/** Ratio of medians. The flooding server uses processor time of the same two cores. */
const MAX_RATIO = 3;
/** Each of the four is called this often during the measurement, without waiting for responses. */
const NAG_EVERY_MS = 25;

const bad = {
  dead: { crashOn: 'initialize' },
  mute: { mute: ['tools/call'] },
  slow: { delayMs: 1_500 },
  hostile: { flood: 200, junk: true, ids: true },
};

describe('one dead, one mute, one slow and one hostile server among ten', () => {
  let service: TestApp;
  let api: Api;

  beforeAll(async () => {
    service = await startApp();
    api = new Api(service);
    await Promise.all(Array.from({ length: GOOD }, (_, i) => register(`good-${i}`, {})));
    await connected(GOOD);
  });
  afterAll(() => service.close());

  const register = (name: string, behaviour: object): Promise<string> =>
    api.register({
      name,
      transport_type: 'STDIO',
      connection_config: {
        command: process.execPath,
        args: [fixture('hostile.mjs'), 'stdio', JSON.stringify(behaviour)],
      },
    });
  const connected = (count: number): Promise<void> =>
    eventually(async () => {
      const statuses = Object.values(await api.statuses());
      expect(statuses.filter((status) => status === 'CONNECTED')).toHaveLength(count);
      const tools = await send(service.url, '/api/v1/aggregator/state', { token: service.token });
      expect(tools.body).toMatchObject({ total_tools: count * 6 });
    }, 20_000);
  const callEcho = async (server: string): Promise<number> => {
    const answer = await send(service.url, '/api/v1/tools/call', {
      method: 'POST',
      token: service.token,
      body: JSON.stringify({ name: `${server}.echo`, arguments: { text: 'hello' } }),
    });
    return answer.status;
  };

  /** Median milliseconds of calling each good server and of listing all tools. */
  const measure = async (): Promise<{ call: number; list: number }> => {
    const calls: number[] = [];
    const lists: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      for (let i = 0; i < GOOD; i++) {
        const startedAt = performance.now();
        expect(await callEcho(`good-${i}`)).toBe(200);
        calls.push(performance.now() - startedAt);
      }
      const startedAt = performance.now();
      await api.statuses();
      lists.push(performance.now() - startedAt);
    }
    return { call: median(calls), list: median(lists) };
  };

  it('do not slow down the other six', async () => {
    await measure(); // warm-up
    const alone = await measure();
    await Promise.all(Object.entries(bad).map(([name, behaviour]) => register(name, behaviour)));
    await connected(GOOD + 3);
    const nagging = setInterval(() => {
      for (const name of Object.keys(bad)) void callEcho(name);
    }, NAG_EVERY_MS);
    const among = await measure();
    clearInterval(nagging);
    process.stdout.write(
      `median ms alone -> among: call ${alone.call.toFixed(2)} -> ${among.call.toFixed(2)}, ` +
        `list ${alone.list.toFixed(2)} -> ${among.list.toFixed(2)}\n`,
    );
    expect(among.call / alone.call).toBeLessThan(MAX_RATIO);
    expect(among.list / alone.list).toBeLessThan(MAX_RATIO);
  }, 120_000);
});

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
