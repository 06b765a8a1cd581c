import type { Clock } from '@app/platform';
import type { AuditEntry, AuditStore } from './audit.store.js';
import { type Refusal, RefusalLog } from './refusal-log.js';

function setUp(): { log: RefusalLog; written: AuditEntry[]; passMinute: () => Promise<void> } {
  const written: AuditEntry[] = [];
  const audit: Pick<AuditStore, 'record'> = {
    record: async (entry) => void written.push(entry),
  };
  let wake: (() => void) | undefined;
  const clock: Pick<Clock, 'sleep'> = {
    sleep: () => new Promise<void>((resolve) => (wake = resolve)),
  };
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return {
    log: new RefusalLog(audit as AuditStore, clock as Clock),
    written,
    passMinute: async () => {
      wake?.();
      await settle();
    },
  };
}

const refusal = (ip: string, route = '/mcp'): Refusal => ({
  actor: { name: 'anonymous', ip },
  method: 'POST',
  route,
  status: 401,
});

describe(RefusalLog.name, () => {
  it('writes the first at once, and what repeats it as one with a count', async () => {
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

  it('begins anew after a minute', async () => {
    const { log, written, passMinute } = setUp();
    log.note(refusal('10.0.0.1'));
    await passMinute();
    log.note(refusal('10.0.0.1'));
    await passMinute();
    expect(written.map((entry) => entry.details?.['count'])).toEqual([1, 1]);
  });

  it('keeps a flood from everywhere to a few entries, and loses no count', async () => {
    const { log, written, passMinute } = setUp();
    for (let i = 0; i < 100_000; i++) log.note(refusal(`2001:db8::${i.toString(16)}`));
    await passMinute();
    expect(written.length).toBeLessThan(250);
    expect(written.reduce((sum, entry) => sum + Number(entry.details?.['count']), 0)).toBe(100_000);
  });

  it('writes what it counted when the service stops', async () => {
    const { log, written } = setUp();
    log.note(refusal('10.0.0.1'));
    log.note(refusal('10.0.0.1'));
    await log.beforeApplicationShutdown();
    expect(written).toHaveLength(2);
  });
});
