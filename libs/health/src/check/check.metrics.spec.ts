import { TestMetrics } from '../../../../test/support/metrics.js';
import { checkDuration, checkFailures, CheckMetrics } from './check.metrics.js';
import type { ProbeOutcome } from './health-verdict.js';

const healthy: ProbeOutcome = { kind: 'healthy', responseTimeMs: 5 };
const failed: ProbeOutcome = { kind: 'failed', error: 'no answer' };
const misconfigured: ProbeOutcome = { kind: 'misconfigured', warning: '404' };

describe(CheckMetrics.name, () => {
  const server = { id: '1', name: 'a' };
  const after = (...outcomes: ProbeOutcome[]): CheckMetrics => {
    const metrics = new TestMetrics();
    const checks = new CheckMetrics(metrics.of(checkDuration), metrics.of(checkFailures));
    for (const outcome of outcomes) checks.observe(server, outcome);
    return checks;
  };
  const inARow = (checks: CheckMetrics, consecutiveFailures = 0): number =>
    checks.failuresInARow({ ...server, consecutiveFailures });

  it('counts consecutive failures across a reconnect, which resets those of the row', () => {
    expect(inARow(after(failed, failed, misconfigured, failed, failed), 1)).toBe(4);
  });

  it('starts again after a successful check', () => {
    expect(inARow(after(failed, failed, healthy, failed))).toBe(1);
  });

  it('uses the row for a server that another replica checks', () => {
    expect(inARow(after(), 3)).toBe(3);
  });

  it('forgets servers that are no longer wanted', () => {
    const checks = after(failed, failed);
    checks.keepOnly([{ id: '2', name: 'b' }]);
    expect(inARow(checks)).toBe(0);
  });
});
