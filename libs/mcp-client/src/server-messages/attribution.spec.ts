import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { setImmediate } from 'node:timers/promises';
import type { RpcMessage } from '@app/mcp-protocol';
import { type JsonObject, RawJsonObject } from '@app/platform';
import { PendingCalls } from '../session/calls/pending-calls.js';
import type { RequestCaller, RequestOptions } from '../upstream.js';
import { ServerMessages } from './server-messages.js';

const callerOf = (principal: string): RequestCaller => ({ principal, client: { of: principal } });
const [ada, bob] = [callerOf('ada'), callerOf('bob')];
const ROOTS = { roots: [{ uri: 'file:///ada' }] };

describe('a message of a server', () => {
  let calls: PendingCalls;
  let messages: ServerMessages;
  let sent: RpcMessage[];
  let lines: string[];
  let announced: number;

  // A handler that fails is logged.
  beforeAll(() => Logger.overrideLogger(false));
  beforeEach(() => {
    sent = [];
    lines = [];
    announced = 0;
    calls = new PendingCalls((call) => messages.noteGivenUp(call));
    messages = new ServerMessages(calls, {
      send: (answer) => {
        sent.push(answer);
        return Promise.resolve();
      },
      announceRoots: () => announced++,
      ping: () => Promise.resolve(),
      giveUp: () => undefined,
      callersAsked: () => undefined,
      log: (line) => lines.push(line),
    });
  });
  afterEach(() => {
    jest.useRealTimers();
    calls.rejectAll(() => new Error('the test is over'));
  });

  /** A running call, as the session has it. */
  function run(caller: RequestCaller | undefined, more: Partial<RequestOptions> = {}): number {
    if (caller) messages.users.note(caller.principal);
    const settle = { resolve: (): void => undefined, reject: (): void => undefined };
    return calls.add('tools/call', { timeoutMs: 60_000, caller, ...more }, settle);
  }
  const answering = (name: string, asked: string[] = []): Partial<RequestOptions> => ({
    onServerRequest: (method) => {
      asked.push(`${name} ${method}`);
      return Promise.resolve({ from: name });
    },
  });
  const end = (id: number): void => calls.resolve(id, RawJsonObject.of({}));
  const question = (method: string, during?: number): void =>
    messages.question({ jsonrpc: '2.0', id: `q${sent.length}`, method }, during);
  const log = (data: unknown, during?: number, more: JsonObject = {}): void =>
    messages.notification(
      'notifications/message',
      { level: 'info', ...more, data: data as string },
      during,
    );

  describe('asks', () => {
    it('the caller in whose exchange a request came', async () => {
      run(ada, answering('ada'));
      const of = run(bob, answering('bob'));
      question('elicitation/create', of);
      await setImmediate();
      expect(sent).toMatchObject([{ result: { from: 'bob' } }]);
    });

    it('no caller in the exchange of one that cannot be asked, or of no call', async () => {
      run(ada, answering('ada'));
      question('elicitation/create', run(bob));
      question('elicitation/create', 7);
      await setImmediate();
      expect(sent).toMatchObject([{ error: {} }, { error: {} }]);
      expect(JSON.stringify(sent)).not.toContain('from');
    });

    it('the only client that is served, outside of an exchange', async () => {
      run(undefined);
      run(ada, answering('first'));
      run(ada, answering('newest'));
      question('elicitation/create');
      await setImmediate();
      expect(sent).toMatchObject([{ result: { from: 'newest' } }]);
    });

    it('no caller outside of an exchange while two clients are served', async () => {
      run(ada, answering('ada'));
      run({ principal: 'ada', client: {} }, answering('ada elsewhere'));
      question('elicitation/create');
      await setImmediate();
      expect(sent).toMatchObject([
        { error: { message: expect.stringContaining('whose call this is for') as string } },
      ]);
    });

    it('no caller outside of an exchange while it may still work for another user', async () => {
      calls.giveUp(run(bob), new Error('cancelled'));
      run(ada, answering('ada'));
      question('elicitation/create');
      await setImmediate();
      expect(sent).toMatchObject([{ error: {} }]);
    });

    it('the user outside of an exchange whose own call was given up', async () => {
      calls.giveUp(run(ada), new Error('cancelled'));
      calls.giveUp(run(undefined), new Error('cancelled'));
      run(ada, answering('ada'));
      question('elicitation/create');
      await setImmediate();
      expect(sent).toMatchObject([{ result: { from: 'ada' } }]);
    });

    it('no caller while no call is running', async () => {
      question('elicitation/create');
      await setImmediate();
      expect(sent).toMatchObject([{ error: {} }]);
    });
  });

  describe('serves one client at a time', () => {
    const admit = (caller: RequestCaller, more: Partial<RequestOptions> = {}): Promise<number> =>
      messages.admit(caller, { timeoutMs: 60_000, ...more }, (options) => {
        run(caller, options);
        return Promise.resolve(options.timeoutMs);
      });

    it('but callers that cannot be asked together, and none of them beside one that can', async () => {
      const ids: number[] = [];
      const admit = (caller: RequestCaller, more: Partial<RequestOptions> = {}): Promise<unknown> =>
        messages.admit(caller, { timeoutMs: 60_000, ...more }, async (options) =>
          ids.push(run(caller, options)),
        );
      const first = run(ada, answering('ada'));
      question('elicitation/create');
      const waiting = [admit(bob), admit(ada), admit(bob, answering('bob'))];
      await setImmediate();
      expect(calls.size).toBe(1);
      end(first);
      await Promise.all(waiting.slice(0, 2));
      expect(calls.size).toBe(2);
      question('elicitation/create');
      await setImmediate();
      expect(sent.at(-1)).toMatchObject({ error: {} });
      for (const id of ids.splice(0)) end(id);
      await waiting[2];
      question('elicitation/create');
      await setImmediate();
      expect(sent.at(-1)).toMatchObject({ result: { from: 'bob' } });
    });

    it('once a server has asked outside of an exchange', async () => {
      const first = run(ada, answering('ada'));
      expect(messages.isFreeFor(bob)).toBe(true);
      question('elicitation/create');
      expect(messages.isFreeFor(ada)).toBe(false);
      const waiting = admit(bob);
      await setImmediate();
      expect(calls.ofUsers).toBe(1);
      end(first);
      await waiting;
      expect(calls.ofUsers).toBe(1);
      expect(messages.users.only).toBeNull();
    });

    it('not because of a ping, an exchange, or a question while no client is served', async () => {
      question('elicitation/create');
      run(undefined);
      question('elicitation/create');
      const id = run(ada, answering('ada'));
      question('ping');
      question('elicitation/create', id);
      await setImmediate();
      expect(messages.isFreeFor(bob)).toBe(true);
    });

    it('with the rest of the time that a call has', async () => {
      jest.useFakeTimers({ doNotFake: ['setImmediate', 'queueMicrotask', 'nextTick'] });
      const first = run(ada, { ...answering('ada'), timeoutMs: 1_000_000 });
      question('elicitation/create');
      const waiting = admit(bob, { timeoutMs: 10_000 });
      await setImmediate();
      jest.advanceTimersByTime(4_000);
      end(first);
      await expect(waiting).resolves.toBe(6_000);
    });

    it('and rejects those whose time is over', async () => {
      run(ada, answering('ada'));
      question('elicitation/create');
      await expect(admit(bob, { timeoutMs: 10 })).rejects.toMatchObject({ kind: 'overloaded' });
    });
  });

  describe('gives roots', () => {
    it('of the user for whom it works', async () => {
      const asked: string[] = [];
      run(ada, answering('ada', asked));
      question('roots/list');
      await setImmediate();
      expect(asked).toEqual(['ada roots/list']);
      expect(sent).toMatchObject([{ result: { from: 'ada' } }]);
      expect(messages.isFreeFor(bob)).toBe(true);
    });

    it('of the provider outside of any call, which is told the only user', async () => {
      const users: unknown[] = [];
      messages.setRootsProvider((user) => {
        users.push(user);
        return Promise.resolve({ result: ROOTS, principal: 'ada' });
      });
      question('roots/list');
      await setImmediate();
      messages.users.note('ada');
      question('roots/list');
      await setImmediate();
      expect(users).toEqual([undefined, 'ada']);
      expect(sent).toMatchObject([{ result: ROOTS }, { result: ROOTS }]);
    });

    it('that are none without a provider, or when another user came meanwhile', async () => {
      question('roots/list');
      await setImmediate();
      messages.setRootsProvider(() => {
        messages.users.note('ada');
        messages.users.note('bob');
        return Promise.resolve({ result: ROOTS, principal: 'ada' });
      });
      question('roots/list');
      await setImmediate();
      expect(sent).toMatchObject([{ result: { roots: [] } }, { result: { roots: [] } }]);
    });

    it('of a caller only while no other client is served', async () => {
      run(ada, {
        onServerRequest: () => {
          run(bob);
          return Promise.resolve(ROOTS);
        },
      });
      question('roots/list');
      await setImmediate();
      expect(sent).toMatchObject([{ result: { roots: [] } }]);
      expect(messages.isFreeFor(bob)).toBe(true);
    });

    it('and then has them withdrawn before another user is served', async () => {
      run(ada, { onServerRequest: () => Promise.resolve(ROOTS) });
      question('roots/list');
      await setImmediate();
      expect(sent).toMatchObject([{ result: ROOTS }]);
      expect([messages.isFreeFor(ada), announced]).toEqual([true, 0]);
      expect([messages.isFreeFor(bob), announced]).toEqual([false, 1]);
      const admitted = messages.admit(bob, { timeoutMs: 60_000 }, ({ timeoutMs }) =>
        Promise.resolve(timeoutMs),
      );
      question('roots/list');
      await setImmediate();
      expect(sent.at(-1)).toMatchObject({ result: { roots: [] } });
      expect(await admitted).toBeLessThanOrEqual(60_000);
      expect(messages.isFreeFor(bob)).toBe(true);
    });

    it('of one of several users, one client at a time from then on', async () => {
      messages.users.note('bob');
      run(ada, { onServerRequest: () => Promise.resolve(ROOTS) });
      question('roots/list');
      await setImmediate();
      expect(sent).toMatchObject([{ result: ROOTS }]);
      expect(messages.isFreeFor(ada)).toBe(false);
    });
  });

  describe('delivers a log message', () => {
    const heard: unknown[] = [];
    const onLog = (params: JsonObject): void => void heard.push(params['data']);
    beforeEach(() => {
      heard.length = 0;
      messages.onNotification((method, params, user) => heard.push([method, params['data'], user]));
    });

    it('to the caller in whose exchange it came', () => {
      run(bob);
      log('mine', run(ada, { onLog }));
      expect([heard, lines]).toEqual([['mine'], []]);
    });

    it('to the log of the server when that caller does not want it', () => {
      run(ada, { onLog });
      log('mine', run(ada));
      expect([heard, lines]).toEqual([[], ['[info] mine']]);
    });

    it('to the only user, outside of an exchange', () => {
      const id = run(ada, { onLog });
      log('running');
      end(id);
      log('later');
      expect(heard).toEqual(['running', ['notifications/message', 'later', 'ada']]);
      expect(lines).toEqual(['[info] later']);
    });

    it('only to the log of the server without a user, or with several', () => {
      log('none');
      run(bob);
      run(ada, { onLog });
      log('several');
      expect([heard, lines]).toEqual([[], ['[info] none', '[info] several']]);
    });

    it('with its level and logger', () => {
      log({ a: 1 }, undefined, { logger: 'db' });
      messages.notification('notifications/message', { level: 7, logger: 7 }, undefined);
      expect(lines).toEqual(['[info] db: {"a":1}', '[log] ']);
    });

    it('cut at 2000 bytes', () => {
      log('x'.repeat(3_000));
      expect(lines[0]).toHaveLength(2_000);
    });
  });

  describe('reports progress', () => {
    const heard: unknown[] = [];
    const onProgress = (params: JsonObject): void => void heard.push(params['progress']);
    const progress = (progressToken: unknown, n: number, during?: number): void =>
      messages.notification(
        'notifications/progress',
        { progressToken: progressToken as number, progress: n },
        during,
      );
    beforeEach(() => (heard.length = 0));

    it('of the call of its token', () => {
      const id = run(ada, { onProgress });
      progress(id, 1);
      progress(id, 2, id);
      progress(String(id), 3);
      progress(id + 1, 4);
      progress(id, 5, run(bob));
      expect(heard).toEqual([1, 2]);
    });

    it('to no handler when the call has none', () => {
      const id = run(ada);
      expect(() => progress(id, 1)).not.toThrow();
    });

    it('and gives the call more time', () => {
      jest.useFakeTimers();
      const id = run(ada, { onProgress, timeoutMs: 1_000 });
      jest.advanceTimersByTime(900);
      progress(id, 1);
      jest.advanceTimersByTime(900);
      expect(calls.has(id)).toBe(true);
      jest.advanceTimersByTime(100);
      expect(calls.has(id)).toBe(false);
    });

    it('at most a thousand times a second, for each call', () => {
      jest.useFakeTimers();
      const [one, two] = [run(ada, { onProgress }), run(ada, { onProgress })];
      for (let i = 0; i < 2_000; i++) progress(one, i);
      expect(heard).toHaveLength(1_000);
      progress(two, 0);
      expect(heard).toHaveLength(1_001);
      jest.advanceTimersByTime(1_000);
      progress(one, 0);
      expect(heard).toHaveLength(1_002);
    });
  });

  it('cancels the request that the server cancels', async () => {
    const signals: AbortSignal[] = [];
    run(ada, {
      onServerRequest: (_method, _params, signal) => {
        if (signal instanceof AbortSignal) signals.push(signal);
        return new Promise(() => undefined);
      },
    });
    messages.question({ jsonrpc: '2.0', id: 'q', method: 'sampling/createMessage' }, undefined);
    const heard: string[] = [];
    messages.onNotification((method) => heard.push(method));
    messages.notification('notifications/cancelled', { requestId: {} }, undefined);
    messages.notification('notifications/cancelled', { requestId: 'other' }, undefined);
    expect(signals[0]?.aborted).toBe(false);
    messages.notification('notifications/cancelled', { requestId: 'q' }, undefined);
    expect(signals[0]?.aborted).toBe(true);
    expect(heard).toEqual([]);
  });

  it('cancels all requests when the session ends', () => {
    const signals: AbortSignal[] = [];
    run(ada, {
      onServerRequest: (_method, _params, signal) => {
        if (signal instanceof AbortSignal) signals.push(signal);
        return new Promise(() => undefined);
      },
    });
    question('sampling/createMessage');
    messages.close();
    expect(signals[0]?.aborted).toBe(true);
  });

  it('outlives a handler that fails, and forgets one that was removed', () => {
    const heard: string[] = [];
    messages.onNotification(() => {
      throw new Error('of the handler');
    });
    const remove = messages.onNotification((method) => heard.push(method));
    messages.notification('notifications/a', {}, undefined);
    remove();
    messages.notification('notifications/b', {}, undefined);
    expect(heard).toEqual(['notifications/a']);
  });
});
