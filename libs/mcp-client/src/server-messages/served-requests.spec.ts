import { setImmediate } from 'node:timers/promises';
import { type RpcMessage, UpstreamRpcError } from '@app/mcp-protocol';
import type { JsonObject } from '@app/platform';
import { PendingCalls } from '../session/calls/pending-calls.js';
import type { ServerRequestHandler } from '../upstream.js';
import { ServedRequests } from './served-requests.js';

const settle = { resolve: (): void => undefined, reject: (): void => undefined };

describe(ServedRequests.name, () => {
  let sent: RpcMessage[];
  let lines: string[];
  let served: ServedRequests;
  let calls: PendingCalls;
  let signals: AbortSignal[];
  /** Never answers. */
  const hold: ServerRequestHandler = (_method, _params, signal) => {
    if (signal instanceof AbortSignal) signals.push(signal);
    return new Promise(() => undefined);
  };

  beforeEach(() => {
    sent = [];
    lines = [];
    signals = [];
    calls = new PendingCalls(() => undefined);
    served = new ServedRequests(
      (answer) => {
        sent.push(answer);
        return Promise.resolve();
      },
      (line) => lines.push(line),
    );
  });
  afterEach(() => calls.rejectAll(() => new Error('the test is over')));

  const ask = (
    id: string | number,
    handler: ServerRequestHandler | undefined,
    principal?: string,
    method = 'sampling/createMessage',
  ): Promise<void> =>
    served.serve({ jsonrpc: '2.0', id, method, params: { n: 1 } }, handler, callOf(principal));

  function callOf(principal: string | undefined) {
    if (principal === undefined) return undefined;
    const caller = { principal, client: {} };
    return calls.get(calls.add('tools/call', { timeoutMs: 60_000, caller }, settle));
  }

  it('sends the answer of the handler', async () => {
    const asked: unknown[] = [];
    await ask('a', (method, params) => {
      asked.push([method, params]);
      return Promise.resolve({ role: 'user' });
    });
    expect(asked).toEqual([['sampling/createMessage', { n: 1 }]]);
    expect(sent).toEqual([{ jsonrpc: '2.0', id: 'a', result: { role: 'user' } }]);
  });

  it('gives the handler params also when there are none', async () => {
    const asked: JsonObject[] = [];
    const handler: ServerRequestHandler = (_method, params) => {
      asked.push(params);
      return Promise.resolve({});
    };
    await served.serve({ jsonrpc: '2.0', id: 1, method: 'roots/list' }, handler, undefined);
    expect(asked).toEqual([{}]);
  });

  it('answers pings by itself', async () => {
    await ask('p', undefined, undefined, 'ping');
    expect(sent).toEqual([{ jsonrpc: '2.0', id: 'p', result: {} }]);
  });

  it('sends the refusal of a client, and no other error', async () => {
    const refusal = { code: -1, message: 'User rejected', data: { why: 1 } };
    await ask(1, () => Promise.reject(new UpstreamRpcError(refusal)));
    await ask(2, () => {
      throw new Error('a secret of the service');
    });
    expect(sent).toEqual([
      { jsonrpc: '2.0', id: 1, error: refusal },
      { jsonrpc: '2.0', id: 2, error: { code: -32_603, message: 'The client could not answer' } },
    ]);
  });

  it('says why no caller can be asked', async () => {
    await ask(1, undefined);
    await ask(2, undefined, 'ada');
    expect(sent).toMatchObject([
      {
        error: {
          code: -32_601,
          message:
            'sampling/createMessage is not answered: it cannot be told whose call this is for',
        },
      },
      {
        error: {
          code: -32_601,
          message: 'sampling/createMessage is not answered: the caller cannot be asked',
        },
      },
    ]);
  });

  it('answers an id of 1000 characters, and none that is longer', async () => {
    await ask('x'.repeat(1_000), undefined, undefined, 'ping');
    expect(sent).toHaveLength(1);
    await ask('x'.repeat(1_001), undefined, undefined, 'ping');
    expect(sent).toHaveLength(1);
    expect(lines).toEqual(['a request gets no answer: its id is longer than 1000 characters']);
  });

  it('holds 64 requests for each user, and refuses the others', async () => {
    for (const user of ['ada', 'bob', undefined]) {
      sent.length = 0;
      for (let i = 0; i < 64; i++) void ask(`${user} ${i}`, hold, user);
      expect(sent).toEqual([]);
      await ask(`${user} more`, hold, user);
      expect(sent).toMatchObject([
        { error: { code: -32_000, message: 'Too many requests at once' } },
      ]);
    }
  });

  it('holds 1024 requests for all users together', async () => {
    for (let i = 0; i < 1_024; i++) void ask(i, hold, `user ${i % 32}`);
    expect(sent).toEqual([]);
    await ask('more', hold, 'another');
    expect(sent).toHaveLength(1);
  });

  it('takes new requests of a user as soon as earlier ones are answered', async () => {
    let answer: (result: JsonObject) => void = () => undefined;
    void ask('first', () => new Promise((resolve) => (answer = resolve)), 'ada');
    for (let i = 1; i < 64; i++) void ask(i, hold, 'ada');
    answer({});
    await setImmediate();
    expect(sent).toEqual([{ jsonrpc: '2.0', id: 'first', result: {} }]);
    void ask('next', hold, 'ada');
    await ask('one too many', hold, 'ada');
    expect(sent).toMatchObject([{ id: 'first' }, { id: 'one too many', error: {} }]);
  });

  it('refuses an id that is in use', async () => {
    void ask('a', hold);
    await ask('a', hold);
    expect(sent).toMatchObject([{ id: 'a', error: { message: 'Too many requests at once' } }]);
    expect(signals).toHaveLength(1);
  });

  it('has the call wait that caused the request', async () => {
    const call = callOf('ada');
    const request = { jsonrpc: '2.0', id: 'a', method: 'roots/list' } as const;
    let answer: (result: JsonObject) => void = () => undefined;
    const serving = served.serve(request, () => new Promise((resolve) => (answer = resolve)), call);
    expect(call?.asking).toBe(1);
    answer({});
    await serving;
    expect(call?.asking).toBe(0);
  });

  it('cancels the request that the server cancels, and all of them at the end', () => {
    for (const id of ['a', 'b', 'c']) void ask(id, hold);
    served.cancel('b');
    served.cancel('unknown');
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, true, false]);
    served.cancelAll();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true]);
  });

  it('outlives an answer that cannot be sent', async () => {
    const failing = new ServedRequests(
      () => Promise.reject(new Error('closed')),
      (line) => lines.push(line),
    );
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' } as const;
    for (let i = 0; i < 200; i++) await failing.serve(ping, undefined, undefined);
    expect(lines).toEqual([]);
  });

  it('notes it again when the server stops to take answers again', async () => {
    let taken: (() => void)[] = [];
    const slow = new ServedRequests(
      (answer) => {
        sent.push(answer);
        return new Promise((resolve) => taken.push(resolve));
      },
      (line) => lines.push(line),
    );
    for (let round = 1; round <= 2; round++) {
      for (let id = 0; id < 130; id++) {
        void slow.serve({ jsonrpc: '2.0', id, method: 'ping' }, undefined, undefined);
      }
      expect(sent).toHaveLength(128 * round);
      expect(lines).toHaveLength(round);
      for (const take of taken) take();
      taken = [];
      await setImmediate();
    }
  });
});
