import { jest } from '@jest/globals';
import { setImmediate } from 'node:timers/promises';
import { CallerTurns } from './caller-turns.js';

type Caller = Parameters<CallerTurns['enter']>[0];
const callerOf = (principal: string): Caller => ({ principal, turn: { of: principal } });
const [ada, bob, cid] = [callerOf('ada'), callerOf('bob'), callerOf('cid')];

describe(CallerTurns.name, () => {
  /** Running calls, each with the function that ends it. */
  let running: { readonly caller: Caller; end(): void }[];
  let turns: CallerTurns;

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'queueMicrotask', 'nextTick'] });
    running = [];
    turns = new CallerTurns((turn) => running.some(({ caller }) => caller.turn !== turn));
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  function enter(
    caller: Caller,
    { prepare, signal }: { prepare?: () => Promise<void>; signal?: AbortSignal } = {},
  ): Promise<string> {
    const entered = turns.enter<string>(
      caller,
      { withinMs: 1_000, signal },
      {
        prepare: () => prepare?.(),
        start: () =>
          new Promise((resolve) => {
            const one = {
              caller,
              end: () => {
                running = running.filter((other) => other !== one);
                resolve(caller.principal);
                turns.next();
              },
            };
            running.push(one);
          }),
      },
    );
    entered.catch(() => undefined);
    return entered;
  }
  const served = (): string[] => running.map(({ caller }) => caller.principal);
  const endOne = (): void => running[0]?.end();

  it('starts calls at once while there is only one client', async () => {
    const both = [enter(ada), enter(ada)];
    expect(served()).toEqual(['ada', 'ada']);
    endOne();
    endOne();
    expect(await Promise.all(both)).toEqual(['ada', 'ada']);
  });

  it('lets another client wait until no call is running', async () => {
    void enter(ada);
    void enter(ada);
    const waiting = enter(bob);
    endOne();
    expect(served()).toEqual(['ada']);
    endOne();
    expect(served()).toEqual(['bob']);
    endOne();
    await expect(waiting).resolves.toBe('bob');
    expect(jest.getTimerCount()).toBe(0);
  });

  it('lets the calls of the running client wait behind those that wait', () => {
    void enter(ada);
    void enter(bob);
    void enter(ada);
    expect(served()).toEqual(['ada']);
  });

  it('serves another user than the last one first', () => {
    const other = { principal: 'ada', turn: {} };
    void enter(ada);
    void enter(other);
    void enter(bob);
    void enter(cid);
    const order: string[] = [];
    while (running.length > 0) {
      order.push(...served());
      endOne();
    }
    expect(order).toEqual(['ada', 'bob', 'ada', 'cid']);
  });

  it('starts all calls of a client in its turn, so that a long queue takes no longer', () => {
    void enter(ada);
    for (let i = 0; i < 3; i++) void enter(bob);
    void enter(cid);
    void enter(bob);
    endOne();
    expect(served()).toEqual(['bob', 'bob', 'bob', 'bob']);
    for (let i = 0; i < 4; i++) endOne();
    expect(served()).toEqual(['cid']);
  });

  it('rejects a call whose turn does not come in time', async () => {
    void enter(ada);
    const waiting = enter(bob);
    jest.advanceTimersByTime(999);
    expect(served()).toEqual(['ada']);
    jest.advanceTimersByTime(1);
    await expect(waiting).rejects.toMatchObject({ kind: 'overloaded' });
    endOne();
    expect(served()).toEqual([]);
  });

  it('rejects a call that its caller cancels while it waits', async () => {
    const controller = new AbortController();
    void enter(ada);
    const waiting = enter(bob, { signal: controller.signal });
    void enter(cid);
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'REQUEST_CANCELLED' });
    expect(jest.getTimerCount()).toBe(1);
    endOne();
    expect(served()).toEqual(['cid']);
  });

  it('does not listen for the cancellation of a call that began', () => {
    const controller = new AbortController();
    const { signal } = controller;
    const remove = jest.spyOn(signal, 'removeEventListener');
    void enter(ada);
    void enter(bob, { signal });
    endOne();
    expect(remove).toHaveBeenCalledWith('abort', expect.any(Function));
  });

  it('starts calls of other clients only after a call that is being prepared', async () => {
    let prepared = (): void => undefined;
    const first = enter(ada, { prepare: () => new Promise((resolve) => (prepared = resolve)) });
    void enter(bob);
    turns.next();
    expect(served()).toEqual([]);
    prepared();
    await setImmediate();
    expect(served()).toEqual(['ada']);
    endOne();
    await first;
    await setImmediate();
    expect(served()).toEqual(['bob']);
  });

  it('prepares calls of one client at the same time', () => {
    let asked = 0;
    const prepare = (): Promise<void> => {
      asked++;
      return new Promise(() => undefined);
    };
    void enter(ada, { prepare });
    void enter(ada, { prepare });
    void enter(bob, { prepare });
    expect(asked).toBe(2);
  });

  it('ends all that wait when calls end before they run, as after the end of the session', async () => {
    void enter(ada);
    const gone = { start: () => Promise.reject(new Error('it ended')), prepare: () => undefined };
    const patience = { withinMs: 1_000, signal: undefined };
    const waiting = [bob, cid].map((caller) => turns.enter(caller, patience, gone));
    const ended = Promise.all(waiting.map((one) => expect(one).rejects.toThrow('it ended')));
    endOne();
    await ended;
    expect(jest.getTimerCount()).toBe(0);
  });

  it('lets the next one begin when a prepared call ends before it runs', async () => {
    const failed = turns.enter(
      ada,
      { withinMs: 1_000, signal: undefined },
      { prepare: () => Promise.resolve(), start: () => Promise.reject(new Error('it ended')) },
    );
    void enter(bob);
    await expect(failed).rejects.toThrow('it ended');
    expect(served()).toEqual(['bob']);
  });
});
