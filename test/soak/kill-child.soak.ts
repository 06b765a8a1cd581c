import { errorAnswer } from '@app/platform';
import { SessionPool } from '@app/sessions';
import { Api } from '../support/api.js';
import { startApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { fixture, nodesWith, processesWith } from '../support/peers.js';

const SERVERS = 20;
/** Each server loses its session five times, and recovers after 1, 2, 4, 8 and 16 s. */
const KILLS_EACH = 5;
const CALLS = 5;
const MARK = `SWITCHBOARD_TEST_MARK=kill-${process.pid}-${Date.now()}`;
const [markName = '', markValue = ''] = MARK.split('=');

it(`${SERVERS * KILLS_EACH} killed children: every call is answered in a second, every server comes back`, async () => {
  const service = await startApp();
  const api = new Api(service);
  const pool = service.app.get(SessionPool);
  const slowest = { answerMs: 0, backMs: [0, 0, 0, 0, 0] };

  const prey = async (i: number): Promise<void> => {
    const mark = `${MARK}-${i}-`;
    const id = await api.register({
      name: `prey-${i}`,
      transport_type: 'STDIO',
      connection_config: {
        command: 'sh',
        args: [
          '-c',
          `"${process.execPath}" "$0" stdio '{"forks":true,"delayMs":20000}'; true`,
          fixture('hostile.mjs'),
        ],
        env: { [markName]: `${markValue}-${i}-` },
      },
    });
    for (let kill = 0; kill < KILLS_EACH; kill++) {
      const session = await eventually(() => {
        const live = pool.get(id);
        if (!live) throw new Error('not connected');
        return live;
      });
      const calls = Array.from({ length: CALLS }, () =>
        session
          .request('tools/call', { name: 'echo', arguments: { text: 'x' } }, { timeoutMs: 60_000 })
          .then(
            () => ({ status: 200, body: {}, at: performance.now() }),
            (error: unknown) => ({ ...errorAnswer(error), at: performance.now() }),
          ),
      );
      await eventually(() => expect(session.pending).toBe(CALLS));
      const killedAt = performance.now();
      for (const pid of nodesWith(mark)) process.kill(pid, 'SIGKILL');
      for (const answer of await Promise.all(calls)) {
        expect(answer).toMatchObject({
          status: 503,
          body: { error_code: 'SERVER_UNAVAILABLE', context: { outcome: 'unknown' } },
        });
        slowest.answerMs = Math.max(slowest.answerMs, answer.at - killedAt);
      }
      await eventually(() => expect(pool.get(id)).toBeDefined());
      const backMs = performance.now() - killedAt;
      slowest.backMs[kill] = Math.max(slowest.backMs[kill] ?? 0, backMs);
    }
  };
  await Promise.all(Array.from({ length: SERVERS }, (_, i) => prey(i)));
  await service.close();
  const back = slowest.backMs.map((ms) => (ms / 1_000).toFixed(1)).join(', ');
  process.stdout.write(
    `slowest answer ${slowest.answerMs.toFixed(0)} ms after the kill; slowest return after ` +
      `${back} s (1st to 5th loss); processes left ${processesWith(MARK).length}\n`,
  );
  expect(slowest.answerMs).toBeLessThan(1_000);
  expect(processesWith(MARK)).toEqual([]);
}, 300_000);
