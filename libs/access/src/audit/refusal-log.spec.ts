import { Logger } from '@nestjs/common';
import type { Clock } from '@app/platform';
import { TestMetrics } from '../../../../test/support/metrics.js';
import { auditEntriesLost, AuditLosses } from './audit-losses.js';
import type { AuditEntry, AuditStore } from './audit.store.js';
import { type RefusedRequest, RefusalLog } from './refusal-log.js';

function setUp(record?: () => Promise<void>): {
  metrics: TestMetrics;
  log: RefusalLog;
  written: AuditEntry[];
  passMinute: () => Promise<void>;
} {
  const written: AuditEntry[] = [];
  const metrics = new TestMetrics();
  const audit: Pick<AuditStore, 'record'> = {
    record: record ?? (async (entry) => void written.push(entry)),
  };
  let wake: (() => void) | undefined;
  const clock: Pick<Clock, 'sleep'> = {
    sleep: () => new Promise<void>((resolve) => (wake = resolve)),
  };
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return {
    log: new RefusalLog(
      audit as AuditStore,
      clock as Clock,
      new AuditLosses(metrics.of(auditEntriesLost)),
    ),
    metrics,
    written,
    passMinute: async () => {
      wake?.();
      await settle();
    },
  };
}

const refusal = (ip: string, route = '/mcp'): RefusedRequest => ({
  actor: { name: 'anonymous', ip },
  method: 'POST',
  route,
  status: 401,
});

describe(RefusalLog.name, () => {
  beforeAll(() => Logger.overrideLogger(false));

  it('writes the first refusal at once and repetitions as one entry with a count', async () => {
    const { log, written, passMinute } = setUp();
    for (let i = 0; i < 1_000; i++) log.note(refusal('10.0.0.1'));
    log.note(refusal('10.0.0.1', '/docs'));
    await passMinute();
    const details = { method: 'POST', route: '/mcp', status: 401 };
    expect(written.map((entry) => entry.details)).toEqual([
      { ...details, count: 1 },
      { ...details, route: '/docs', count: 1 },
      { ...details, count: 999 },
    ]);
    expect(written[0]).toMatchObject({ event: 'access.refused', outcome: 'refused' });
  });

  it('starts a new window after a minute', async () => {
    const { log, written, passMinute } = setUp();
    log.note(refusal('10.0.0.1'));
    await passMinute();
    log.note(refusal('10.0.0.1'));
    await passMinute();
    expect(written.map((entry) => entry.details?.['count'])).toEqual([1, 1]);
  });

  it('limits a flood from many addresses to a few entries with the full count', async () => {
    const { log, written, passMinute } = setUp();
    for (let i = 0; i < 100_000; i++) log.note(refusal(`2001:db8::${i.toString(16)}`));
    await passMinute();
    expect(written.length).toBeLessThan(250);
    expect(written.reduce((sum, entry) => sum + Number(entry.details?.['count']), 0)).toBe(100_000);
  });

  it('keeps entries for others while one caller floods', async () => {
    const { log, written, passMinute } = setUp();
    const flood = (name: string, ip: string): void => {
      for (let i = 0; i < 500; i++) {
        log.note({ actor: { name, ip }, method: 'GET', route: `/r${i}`, status: 403 });
      }
    };
    flood('mallory', '10.0.0.1');
    flood('anonymous', '10.0.0.2');
    log.note(refusal('10.0.0.3'));
    log.note({ actor: { name: 'alice', ip: '10.0.0.4' }, method: 'GET', route: '/a', status: 403 });
    await passMinute();
    const of = (ip: string): AuditEntry[] => written.filter(({ actor }) => actor.ip === ip);
    for (const ip of ['10.0.0.1', '10.0.0.2']) {
      expect(of(ip).length).toBeLessThan(25);
      expect(of(ip).reduce((sum, entry) => sum + Number(entry.details?.['count']), 0)).toBe(500);
    }
    expect(of('10.0.0.3')).toMatchObject([{ details: { route: '/mcp' } }]);
    expect(of('10.0.0.4')).toMatchObject([{ details: { route: '/a' } }]);
  });

  it('bounds the queue while the database does not answer, and counts lost entries', async () => {
    const { log, metrics } = setUp(() => new Promise<void>(() => undefined));
    for (let minute = 0; minute < 20; minute++) {
      for (let i = 0; i < 100; i++) log.note(refusal(`10.0.${minute}.${i}`));
      void log.beforeApplicationShutdown(); // as the end of a minute does
    }
    expect(await metrics.registry.metrics()).toMatch(/audit_entries_lost_total 1000\b/);
  });

  it('writes pending counts when the service stops', async () => {
    const { log, written } = setUp();
    log.note(refusal('10.0.0.1'));
    log.note(refusal('10.0.0.1'));
    await log.beforeApplicationShutdown();
    expect(written).toHaveLength(2);
  });
});
