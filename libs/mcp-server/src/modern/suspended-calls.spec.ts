import type { StatelessCall } from './stateless-call.js';
import { jest } from '@jest/globals';
import { NotedLimits } from '../fake-endpoint.js';
import { SuspendedCalls } from './suspended-calls.js';

interface FakeCall {
  readonly call: StatelessCall;
  readonly abandoned: string[];
}

function callOf(name: string): FakeCall {
  const abandoned: string[] = [];
  const call = {
    client: { caller: { name, subject: name, ip: null } },
    abandon: (reason: Error) => abandoned.push(reason.message),
  } as unknown as StatelessCall;
  return { call, abandoned };
}

describe(SuspendedCalls.name, () => {
  let suspended: SuspendedCalls;
  let limits: NotedLimits;
  beforeEach(() => {
    limits = new NotedLimits();
    suspended = new SuspendedCalls(limits, 4);
  });
  afterEach(() => suspended.closeAll());

  it('evicts the oldest call of the principal that has most', () => {
    const bob = callOf('bob');
    const key = suspended.suspend(bob.call);
    const alice = Array.from({ length: 6 }, () => callOf('alice'));
    for (const { call } of alice) suspended.suspend(call);
    expect(alice.map(({ abandoned }) => abandoned.length)).toEqual([1, 1, 1, 0, 0, 0]);
    expect(suspended.resume(key)).toBe(bob.call);
    expect(alice[0]?.abandoned).toEqual(['too many calls wait for their clients']);
    expect(limits.noted).toEqual(Array.from({ length: 3 }, () => 'suspended_calls alice'));
  });

  it('resumes a call once', () => {
    const { call } = callOf('alice');
    const key = suspended.suspend(call);
    expect([suspended.resume(key), suspended.resume(key)]).toEqual([call, undefined]);
  });

  it('has room again when a call is resumed', () => {
    const calls = Array.from({ length: 4 }, () => callOf('alice'));
    const keys = calls.map(({ call }) => suspended.suspend(call));
    suspended.resume(keys[2] ?? '');
    suspended.suspend(callOf('alice').call);
    expect(limits.noted).toEqual([]);
    expect(calls.flatMap(({ abandoned }) => abandoned)).toEqual([]);
  });

  it('ends the calls of a principal, and then all', () => {
    const [alice, bob] = [callOf('alice'), callOf('bob')];
    for (const { call } of [alice, bob]) suspended.suspend(call);
    suspended.closeWhere(({ name }) => name === 'alice', 'enough');
    expect([alice.abandoned, bob.abandoned]).toEqual([['enough'], []]);
    suspended.closeAll();
    expect([alice.abandoned, bob.abandoned]).toEqual([['enough'], ['the service is stopping']]);
  });

  describe('after ten minutes', () => {
    beforeEach(() => {
      jest.useFakeTimers();
    });
    afterEach(() => {
      jest.useRealTimers();
    });

    it('ends a call whose client did not come back', () => {
      const { call, abandoned } = callOf('alice');
      const key = suspended.suspend(call);
      jest.advanceTimersByTime(599_999);
      expect(abandoned).toEqual([]);
      jest.advanceTimersByTime(1);
      expect(abandoned).toEqual(['the client did not come back with an answer']);
      expect(suspended.resume(key)).toBeUndefined();
    });

    it('leaves alone a call that was resumed', () => {
      const { call, abandoned } = callOf('alice');
      suspended.resume(suspended.suspend(call));
      jest.advanceTimersByTime(600_000);
      expect([abandoned, jest.getTimerCount()]).toEqual([[], 0]);
    });
  });
});
