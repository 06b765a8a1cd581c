import type { HistoryEntry, ServerStatus } from '@app/registry';
import fc from 'fast-check';
import { healthHistory, type HealthHistory, MAX_INTERVALS } from './health-history.js';

type Given = readonly [at: number, eventType: string, details?: object];

const entriesOf = (given: readonly Given[]): HistoryEntry[] =>
  given.map(([at, eventType, details = {}], i) => ({
    id: String(i + 1),
    eventType,
    details,
    timestamp: new Date(at),
  }));

const historyOf = (
  given: readonly Given[],
  { from = 0, to = 1_000, registeredAt = 0, status = 'CONNECTED' as ServerStatus } = {},
): HealthHistory => healthHistory(entriesOf(given), { from, to, registeredAt, status });

const shown = ({ intervals }: HealthHistory) =>
  intervals.map(({ state, from, to }) => [state, from, to]);

describe(healthHistory, () => {
  it('gives the time between two changes of the status', () => {
    const history = historyOf(
      [
        [10, 'REGISTERED'],
        [10, 'CONNECTING', { from: 'DISCONNECTED' }],
        [20, 'CONNECTED', { from: 'CONNECTING' }],
        [500, 'DEGRADED', { from: 'CONNECTED', reason: 'no answer' }],
        [600, 'CONNECTED', { from: 'DEGRADED' }],
      ],
      { registeredAt: 10 },
    );
    expect(shown(history)).toEqual([
      ['CONNECTING', 10, 20],
      ['CONNECTED', 20, 500],
      ['DEGRADED', 500, 600],
      ['CONNECTED', 600, 1_000],
    ]);
    expect(history.intervals[2]?.reason).toBe('no answer');
    expect(history.events).toEqual([
      { at: 10, kind: 'changed', text: 'Registered' },
      { at: 20, kind: 'connected', text: 'Connected' },
      { at: 500, kind: 'degraded', text: 'no answer' },
      { at: 600, kind: 'connected', text: 'Recovered' },
    ]);
  });

  it('counts failed attempts to connect as part of the time without a connection', () => {
    const history = historyOf([
      [100, 'ERROR', { from: 'CONNECTED', reason: 'it exited' }],
      [200, 'RECONNECT', { from: 'ERROR' }],
      [200, 'CONNECTING', { from: 'ERROR' }],
      [210, 'ERROR', { from: 'CONNECTING', reason: 'refused' }],
      [400, 'CONNECTING', { from: 'ERROR' }],
      [410, 'ERROR', { from: 'CONNECTING', reason: 'log in', needs_login: true }],
    ]);
    expect(shown(history)).toEqual([
      ['CONNECTED', 0, 100],
      ['ERROR', 100, 1_000],
    ]);
    expect(history.intervals[1]).toMatchObject({ attempts: 2, reason: 'log in', needsLogin: true });
    expect(history.events).toEqual([
      { at: 100, kind: 'failed', text: 'it exited' },
      { at: 410, kind: 'needs_login', text: 'log in' },
    ]);
  });

  it('knows the status before the window, also when the entry of it is gone', () => {
    const entries: Given[] = [
      [100, 'CONNECTED', { from: 'CONNECTING' }],
      [700, 'DISCONNECTED', { from: 'CONNECTED' }],
    ];
    expect(shown(historyOf(entries, { from: 500 }))).toEqual([
      ['CONNECTED', 500, 700],
      ['DISCONNECTED', 700, 1_000],
    ]);
    expect(shown(historyOf(entries.slice(1), { from: 500 }))).toEqual([
      ['CONNECTED', 500, 700],
      ['DISCONNECTED', 700, 1_000],
    ]);
    expect(shown(historyOf([], { status: 'DISCONNECTED', registeredAt: 300 }))).toEqual([
      ['DISCONNECTED', 300, 1_000],
    ]);
  });

  it('ignores what is written in an entry by another version', () => {
    const history = historyOf([
      [100, 'ERROR', { from: 7, reason: ['x'] }],
      [200, 'SOMETHING_NEW', { reason: 'x' }],
    ]);
    expect(shown(history)).toEqual([['ERROR', 100, 1_000]]);
    expect(history.events).toEqual([{ at: 100, kind: 'failed', text: 'The connection was lost' }]);
  });

  it('covers the window without gaps, in at most 200 intervals', () => {
    const state = fc.constantFrom('DISCONNECTED', 'CONNECTING', 'CONNECTED', 'DEGRADED', 'ERROR');
    const changes = fc.array(fc.tuple(fc.integer({ min: 0, max: 100_000 }), state), {
      maxLength: 900,
    });
    fc.assert(
      fc.property(changes, fc.integer({ min: 0, max: 50_000 }), (given, from) => {
        const sorted = given.toSorted(([a], [b]) => a - b).map(([at, type]) => [at, type] as const);
        const { intervals } = historyOf(sorted, { from, to: 120_000 });
        expect(intervals.length).toBeLessThanOrEqual(MAX_INTERVALS);
        expect(intervals.at(-1)?.to).toBe(120_000);
        intervals.slice(1).forEach((next, i) => expect(next.from).toBe(intervals[i]?.to));
      }),
    );
  });

  it('keeps the worst status of what it merges', () => {
    const flapping = Array.from({ length: 900 }, (_, i): Given => [
      i,
      i % 2 === 0 ? 'CONNECTED' : 'ERROR',
    ]);
    const { intervals } = historyOf(flapping);
    expect(intervals.length).toBeLessThanOrEqual(MAX_INTERVALS);
    const merged = intervals.filter(({ merged: count }) => count > 0);
    expect(merged.length).toBeGreaterThan(0);
    expect(new Set(merged.map(({ state }) => state))).toEqual(new Set(['ERROR']));
  });
});
