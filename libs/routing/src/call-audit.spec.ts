import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { AuditEntry, AuditLosses, AuditStore } from '@app/access';
import { DatabaseUnavailable } from '@app/platform';
import { CallAudit, type FinishedCall } from './call-audit.js';

describe(CallAudit.name, () => {
  let written: AuditEntry[];
  let record: (entries: readonly AuditEntry[]) => Promise<void>;
  let audit: CallAudit;
  let entriesLost: number;
  beforeAll(() => Logger.overrideLogger(false));
  beforeEach(() => {
    jest.useFakeTimers();
    written = [];
    entriesLost = 0;
    record = async (entries) => void written.push(...entries);
    const store: Pick<AuditStore, 'recordAll'> = { recordAll: (entries) => record(entries) };
    const losses: Pick<AuditLosses, 'say'> = { say: (entries) => void (entriesLost += entries) };
    audit = new CallAudit(store as AuditStore, losses as AuditLosses);
  });
  afterEach(() => jest.useRealTimers());

  const server = { id: 's', name: 'server' };
  const tools = Array.from({ length: 2_000 }, (_, i) => ({ name: `server.tool${i}` }));
  const call = (name: string, tool = 0): FinishedCall =>
    ({
      route: { server, tool: tools[tool] },
      actor: { name, ip: '10.0.0.1' },
      milliseconds: 2,
      isError: false,
    }) as unknown as FinishedCall;
  const passSecond = (): Promise<void> => jest.advanceTimersByTimeAsync(1_000);
  const callsOf = (name: string): number =>
    written
      .filter(({ actor }) => actor.name === name)
      .reduce((sum, { details }) => sum + Number(details?.['calls']), 0);
  const lost = async (): Promise<number> => entriesLost;

  it('writes equal calls as one entry', async () => {
    for (let i = 0; i < 100; i++) audit.note(call('alice'));
    await passSecond();
    expect(written).toMatchObject([{ details: { tool: 'server.tool0', calls: 100, mean_ms: 2 } }]);
  });

  it('counts all calls of a caller with many tools, and leaves room for other callers', async () => {
    for (let tool = 0; tool < 2_000; tool++) audit.note(call('mallory', tool));
    audit.note(call('alice', 1_999));
    await passSecond();
    expect(written.length).toBeLessThan(1_010);
    expect(callsOf('mallory')).toBe(2_000);
    expect(written.find(({ actor }) => actor.name === 'alice')).toMatchObject({
      details: { tool: 'server.tool1999', calls: 1 },
    });
  });

  it('writes entries later when the database was unavailable', async () => {
    const working = record;
    record = () => Promise.reject(new DatabaseUnavailable('unreachable'));
    audit.note(call('alice'));
    await passSecond();
    await passSecond();
    record = working;
    await passSecond();
    expect(callsOf('alice')).toBe(1);
    expect(await lost()).toBe(0);
  });

  it('does not repeat a write with an unknown outcome', async () => {
    const working = record;
    record = () => Promise.reject(new DatabaseUnavailable('unreachable', undefined, true));
    audit.note(call('alice'));
    await passSecond();
    record = working;
    await passSecond();
    expect([callsOf('alice'), await lost()]).toEqual([0, 1]);
  });

  it('bounds the entries held without a database, and counts the lost ones', async () => {
    record = () => Promise.reject(new DatabaseUnavailable('unreachable'));
    for (let second = 0; second < 25; second++) {
      for (let tool = 0; tool < 1_000; tool++) audit.note(call('mallory', tool));
      await passSecond();
    }
    expect(await lost()).toBe(5_000);
  });

  it('starts no second write while one is in progress', async () => {
    let writes = 0;
    let finish: () => void = () => undefined;
    record = () => {
      writes++;
      return new Promise((resolve) => (finish = resolve));
    };
    for (let second = 0; second < 5; second++) {
      audit.note(call('alice'));
      await passSecond();
    }
    expect(writes).toBe(1);
    finish();
    await passSecond();
    expect(writes).toBe(2);
  });
});
