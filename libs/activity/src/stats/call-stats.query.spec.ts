import type { Clock } from '@app/platform';
import type { PeerQuestions } from '../cluster/peer-questions.js';
import type { CallDayStore } from './call-day.store.js';
import { CallDays } from './call-days.js';
import { CallHistory } from './call-history.js';
import { CallStats, CallStatsHandler, statsGroups, statsWindows } from './call-stats.query.js';

const BEGIN = Date.parse('2026-11-20T00:00:00Z');
const LONGEST_NAME = 'n'.repeat(128);

/** A service in which time is set. */
function counting() {
  const time = { ms: 0 };
  const clock = {
    now: () => new Date(BEGIN + time.ms),
    monotonic: () => time.ms,
  } as Clock;
  const days = new CallDays();
  const stored = { tools: 0 };
  const history = new CallHistory(clock, days);
  const rows = {
    ofServers: async () => [],
    ofTools: async () => ({ days: [], tools: stored.tools }),
  } as unknown as CallDayStore;
  const peers = {
    answerWith: () => undefined,
    ask: async () => ({ answers: [], missing: 0 }),
  } as unknown as PeerQuestions;
  const handler = new CallStatsHandler(history, days, rows, peers, clock);
  const call = (serverId: string, tool: string, milliseconds = 12, isError = false): void =>
    history.add({ serverId, tool, milliseconds, isError });
  return { time, history, handler, call, stored };
}

describe(CallStatsHandler.name, () => {
  it('adds up the calls of all servers, with the step in which they ended', async () => {
    const { time, handler, call } = counting();
    time.ms = 700_000;
    call('a', 'x');
    time.ms = 702_500;
    call('b', 'y', 30, true);
    const { series, from, stepSeconds } = await handler.execute(new CallStats({ window: '10m' }));
    expect(stepSeconds).toBe(1);
    expect(series).toHaveLength(1);
    const { t, calls, errors } = series[0]?.sums.columns() ?? { t: [] };
    expect({ calls, errors }).toEqual({ calls: [1, 1], errors: [0, 1] });
    expect(t.map((step) => from + step)).toEqual([BEGIN / 1_000 + 700, BEGIN / 1_000 + 702]);
  });

  it('leaves out what is before the window', async () => {
    const { time, handler, call } = counting();
    call('a', 'x');
    time.ms = 601_000;
    const { series } = await handler.execute(new CallStats({ window: '10m' }));
    expect(series).toEqual([]);
    const day = await handler.execute(new CallStats({ window: '24h' }));
    expect(day.series[0]?.sums.calls).toBe(1);
  });

  it.each(['24h', '30d'] as const)(
    'shows the tool that was called most within %s, although thousands were called before it',
    async (window) => {
      const { handler, call } = counting();
      for (let n = 0; n < 2_500; n++) call('a', `tool-${n}`);
      for (let calls = 0; calls < 10; calls++) call('a', 'busy');
      const { series } = await handler.execute(new CallStats({ window, by: 'tool' }));
      expect(series[0]).toMatchObject({ tool: 'busy' });
    },
  );

  it('counts stored tools beyond those that are read as left out', async () => {
    const { handler, stored } = counting();
    stored.tools = 450;
    const answer = await handler.execute(new CallStats({ window: '30d', by: 'tool' }));
    expect(answer.leftOut).toBe(250);
  });

  it('sorts series by calls, and counts those that it leaves out', async () => {
    const { handler, call } = counting();
    for (let n = 0; n < 300; n++) {
      for (let calls = 0; calls <= n % 7; calls++) call('a', `tool-${n}`);
    }
    const asked = { window: '24h', by: 'tool' } as const;
    const { series, leftOut } = await handler.execute(new CallStats(asked));
    expect([series.length, leftOut]).toEqual([200, 100]);
    const calls = series.map(({ sums }) => sums.calls);
    expect(calls).toEqual(calls.toSorted((one, other) => other - one));
  });

  it('answers with less than 200 KB whatever was called', async () => {
    const { time, handler, history, call } = counting();
    // 50 servers with 200 tools each: every server each second of ten minutes, every tool once, and some each minute.
    for (let second = 0; second < 900; second++) {
      time.ms = second * 1_000;
      for (let server = 0; server < 50; server++) {
        const tool = second % 60 === 0 ? server : second % 200;
        call(
          `550e8400-e29b-41d4-a716-4466554400${server + 10}`,
          `${LONGEST_NAME}${tool}`,
          1 + second,
        );
      }
    }
    expect(history.counts.calls).toBe(45_000);
    for (const window of statsWindows) {
      for (const by of [...statsGroups, undefined]) {
        const asked = { window, ...(by && { by }) };
        const { series } = await handler.execute(new CallStats(asked));
        const text = JSON.stringify(
          series.map(({ serverId, tool, sums }) => ({
            server_id: serverId,
            server: LONGEST_NAME,
            tool,
            calls: sums.calls,
            ...sums.percentiles(),
            points: sums.columns(),
          })),
        );
        expect({ window, by, isSmall: text.length < 195_000 }).toEqual({
          window,
          by,
          isSmall: true,
        });
      }
    }
  });
});
