import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http.js';
import { fixture } from '../support/peers.js';

const GOOD = 6;
const ROUNDS = 20;
/** Each of the four is called this often meanwhile, without waiting for responses. */
const NAG_EVERY_MS = 25;
/** Fewer than a server may run and queue, however long the rounds take. */
const MOST_NAGS = 400;

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
    service = await startApp({
      MCP_AGGREGATOR_RATE_LIMIT: '0',
      MCP_AGGREGATOR_REQUEST_TIMEOUT: '600',
    });
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
    });
  const callEcho = async (server: string): Promise<number> => {
    const answer = await send(service.url, '/api/v1/tools/call', {
      method: 'POST',
      token: service.token,
      body: JSON.stringify({ name: `${server}.echo`, arguments: { text: 'hello' } }),
    });
    return answer.status;
  };

  // How long these calls take is measured by `npm run faults -- T15`.
  it('do not affect calls to the other six while calls to the mute server are pending', async () => {
    await Promise.all(Object.entries(bad).map(([name, behaviour]) => register(name, behaviour)));
    await connected(GOOD + 3);
    let muteAnswers = 0;
    let nags = 0;
    const nagging = setInterval(() => {
      if (++nags > MOST_NAGS) return;
      for (const name of Object.keys(bad)) {
        void callEcho(name).then(() => (muteAnswers += name === 'mute' ? 1 : 0));
      }
    }, NAG_EVERY_MS);
    for (let round = 0; round < ROUNDS; round++) {
      const answers = Array.from({ length: GOOD }, (_, i) => callEcho(`good-${i}`));
      expect(await Promise.all(answers)).toEqual(Array(GOOD).fill(200));
    }
    clearInterval(nagging);
    expect(muteAnswers).toBe(0);
    const statuses = await api.statuses();
    for (let i = 0; i < GOOD; i++) expect(statuses).toHaveProperty(`good-${i}`, 'CONNECTED');
  });
});
