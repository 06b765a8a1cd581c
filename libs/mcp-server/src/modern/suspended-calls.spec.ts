import type { StatelessCall } from './stateless-call.js';
import { SuspendedCalls } from './suspended-calls.js';

interface FakeCall {
  readonly call: StatelessCall;
  readonly abandoned: string[];
}

function callOf(name: string): FakeCall {
  const abandoned: string[] = [];
  const call = {
    client: { caller: { name, ip: null } },
    abandon: (reason: Error) => abandoned.push(reason.message),
  } as unknown as StatelessCall;
  return { call, abandoned };
}

describe(SuspendedCalls.name, () => {
  let suspended: SuspendedCalls;
  beforeEach(() => {
    suspended = new SuspendedCalls(undefined, 4);
  });
  afterEach(() => suspended.closeAll());

  it('evicts the oldest call of the principal that has most', () => {
    const bob = callOf('bob');
    const key = suspended.suspend(bob.call);
    const alice = Array.from({ length: 6 }, () => callOf('alice'));
    for (const { call } of alice) suspended.suspend(call);
    expect(alice.map(({ abandoned }) => abandoned.length)).toEqual([1, 1, 1, 0, 0, 0]);
    expect(suspended.resume(key)).toBe(bob.call);
  });

  it('resumes a call once', () => {
    const { call } = callOf('alice');
    const key = suspended.suspend(call);
    expect([suspended.resume(key), suspended.resume(key)]).toEqual([call, undefined]);
  });
});
