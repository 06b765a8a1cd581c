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
  let reasons: string[];
  beforeAll(() => Logger.overrideLogger(false));
  beforeEach(() => {
    jest.useFakeTimers();
    written = [];
    entriesLost = 0;
    reasons = [];
    record = async (entries) => void written.push(...entries);
    const store: Pick<AuditStore, 'recordAll'> = { recordAll: (entries) => record(entries) };
    const losses: Pick<AuditLosses, 'say'> = {
      say: (entries, reason) => {
        entriesLost += entries;
        reasons.push(String(reason));
      },
    };
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

  it.each([
    ['caller', { actor: { name: 'bob', ip: '10.0.0.1' } }],
    ['person of that name', { actor: { name: 'alice', ip: '10.0.0.1', subject: 'token:alice' } }],
    ['address', { actor: { name: 'alice', ip: '10.0.0.2' } }],
    ['failure', { failure: 'SERVER_UNAVAILABLE' }],
    ['kind of answer', { isError: true }],
  ])('writes calls with another %s as another entry', async (_, other) => {
    audit.note(call('alice'));
    audit.note({ ...call('alice'), ...other });
    await passSecond();
    expect(written).toMatchObject([{ details: { calls: 1 } }, { details: { calls: 1 } }]);
  });

  it('says of each call who made it, and how it ended', async () => {
    audit.note({ ...call('alice'), milliseconds: 1.26 });
    audit.note({ ...call('alice', 1), isError: true });
    audit.note({ ...call('alice', 2), failure: 'EXECUTION_TIMEOUT' });
    await passSecond();
    const common = { event: 'tool.called', actor: { name: 'alice', ip: '10.0.0.1' }, server };
    expect(written).toEqual([
      {
        ...common,
        outcome: 'success',
        details: { tool: 'server.tool0', calls: 1, mean_ms: 1.3 },
      },
      {
        ...common,
        outcome: 'success',
        details: { tool: 'server.tool1', calls: 1, mean_ms: 2, is_error: true },
      },
      {
        ...common,
        outcome: 'failure',
        details: { tool: 'server.tool2', calls: 1, mean_ms: 2, error_code: 'EXECUTION_TIMEOUT' },
      },
    ]);
  });

  it('names 1,000 tools of a caller in a second, and counts the others in one entry', async () => {
    for (let tool = 0; tool < 1_005; tool++) audit.note(call('mallory', tool));
    await passSecond();
    expect(written).toHaveLength(1_001);
    expect(written.at(-1)).toEqual({
      event: 'tool.called',
      actor: { name: 'mallory', ip: '10.0.0.1' },
      details: { tool: '(many others)', calls: 5 },
    });
  });

  it('names 10,000 different calls of all callers in a second', async () => {
    for (let caller = 0; caller < 11; caller++) {
      for (let tool = 0; tool < 1_000; tool++) audit.note(call(`caller ${caller}`, tool));
    }
    await passSecond();
    expect(written).toHaveLength(10_001);
    expect(callsOf('caller 10')).toBe(1_000);
  });

  it('writes nothing while nothing is called', async () => {
    let writes = 0;
    record = async () => void writes++;
    audit.note(call('alice'));
    for (let second = 0; second < 5; second++) await passSecond();
    expect(writes).toBe(1);
    expect(jest.getTimerCount()).toBe(0);
  });

  describe('when the service stops', () => {
    it('writes what was noted', async () => {
      audit.note(call('alice'));
      await audit.beforeApplicationShutdown();
      expect(callsOf('alice')).toBe(1);
      expect(reasons).toEqual([]);
    });

    it('counts as lost what cannot be written', async () => {
      record = () => Promise.reject(new DatabaseUnavailable('unreachable'));
      audit.note(call('alice'));
      await audit.beforeApplicationShutdown();
      expect([entriesLost, reasons]).toEqual([1, ['Error: the service stops']]);
    });
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

  it('drops nothing of 20,000 entries that wait for the database', async () => {
    const working = record;
    record = () => Promise.reject(new DatabaseUnavailable('unreachable'));
    for (let second = 0; second < 20; second++) {
      for (let tool = 0; tool < 1_000; tool++) audit.note(call('mallory', tool));
      await passSecond();
    }
    record = working;
    await passSecond();
    expect([callsOf('mallory'), await lost(), reasons]).toEqual([20_000, 0, []]);
  });

  it('counts entries as lost when the write failed for another reason', async () => {
    record = () => Promise.reject(new Error('no such table'));
    audit.note(call('alice'));
    await passSecond();
    expect([entriesLost, reasons]).toEqual([1, ['Error: no such table']]);
  });

  it('bounds the entries held without a database, and counts the lost ones', async () => {
    record = () => Promise.reject(new DatabaseUnavailable('unreachable'));
    for (let second = 0; second < 25; second++) {
      for (let tool = 0; tool < 1_000; tool++) audit.note(call('mallory', tool));
      await passSecond();
    }
    expect(await lost()).toBe(5_000);
    expect(new Set(reasons)).toEqual(new Set(['Error: too many wait for the database']));
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
