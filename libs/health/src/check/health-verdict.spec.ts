import { type ServerStatus, nextStatus } from '@app/registry';
import fc from 'fast-check';
import { judge, type ProbeOutcome } from './health-verdict.js';

const healthy: ProbeOutcome = { kind: 'healthy', responseTimeMs: 5 };
const failed: ProbeOutcome = { kind: 'failed', error: 'no answer' };
const misconfigured: ProbeOutcome = { kind: 'misconfigured', warning: '404' };

interface Row {
  readonly status: ServerStatus;
  readonly consecutiveFailures: number;
}

/** The row after applying a verdict. */
function after(row: Row, outcome: ProbeOutcome): Row {
  const { consecutiveFailures, signal } = judge(row, outcome);
  return {
    status: (signal && nextStatus(row.status, signal)) ?? row.status,
    consecutiveFailures,
  };
}
const run = (outcomes: readonly ProbeOutcome[]): Row =>
  outcomes.reduce(after, { status: 'CONNECTED', consecutiveFailures: 0 });

describe(judge.name, () => {
  it.each([
    [1, 'CONNECTED'],
    [2, 'DEGRADED'],
    [3, 'ERROR'],
  ] as const)('%i failures in a row make it %s', (count, status) => {
    expect(run(Array.from({ length: count }, () => failed))).toEqual({
      status,
      consecutiveFailures: count,
    });
  });

  it('one success makes a degraded server CONNECTED and resets its failures', () => {
    expect(run([failed, failed, healthy])).toEqual({
      status: 'CONNECTED',
      consecutiveFailures: 0,
    });
  });

  it('a misconfigured check counts neither way', () => {
    expect(run([failed, misconfigured, misconfigured, failed])).toEqual({
      status: 'DEGRADED',
      consecutiveFailures: 2,
    });
  });

  it('the status depends only on the consecutive failures', () => {
    const outcome = fc.constantFrom(healthy, failed, misconfigured);
    fc.assert(
      fc.property(fc.array(outcome, { maxLength: 40 }), (outcomes) => {
        let row: Row = { status: 'CONNECTED', consecutiveFailures: 0 };
        for (const next of outcomes) {
          row = after(row, next);
          const expected =
            row.consecutiveFailures >= 3
              ? 'ERROR'
              : row.consecutiveFailures === 2
                ? 'DEGRADED'
                : 'CONNECTED';
          expect(row.status).toBe(expected);
          // A reconnect follows, and the new session starts the count at 0.
          if (row.status === 'ERROR') row = { status: 'CONNECTED', consecutiveFailures: 0 };
        }
      }),
    );
  });
});
