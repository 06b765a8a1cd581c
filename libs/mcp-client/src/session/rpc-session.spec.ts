import { jest } from '@jest/globals';
import { type JsonObject, SharedBudget } from '@app/platform';
import { setImmediate } from 'node:timers/promises';
import type { ProtocolEra } from '@app/mcp-protocol';
import type { ConnectOptions, RequestOptions } from '../upstream.js';
import {
  AnswerTooLarge,
  ConnectFailed,
  ConnectionLost,
  CredentialsRefused,
  UpstreamHttpError,
} from '../upstream.errors.js';
import { FakeWire } from '../wire/fake-wire.js';
import { SessionExpired, type Wire } from '../wire/wire.js';
import { RpcSession } from './rpc-session.js';

const OPTIONS: ConnectOptions = {
  connectTimeoutMs: 60_000,
  maxAnswerBytes: 1_000_000,
  clientInfo: { name: 'switchboard-test', version: '0' },
  clientCapabilities: { roots: {} },
  allowInsecureHttp: false,
};
const RESULT = { content: [] };
const opened: RpcSession[] = [];
const KINDS = ['stdio', 'sse', 'http'] as const;
const SHARED = ['stdio', 'sse'] as const;

async function open(
  kind: Wire['kind'],
  more: Partial<ConnectOptions> = {},
  era: ProtocolEra = 'legacy',
  change: (wire: FakeWire) => void = () => undefined,
) {
  const wire = new FakeWire(kind, era);
  change(wire);
  const session = await RpcSession.open(wire, { ...OPTIONS, ...more }, era);
  opened.push(session);
  await setImmediate();
  wire.sent = [];
  wire.reading.notes = [];
  return { wire, session };
}

function call(session: RpcSession, more: Partial<RequestOptions> = {}): Promise<JsonObject> {
  const answer = session.request('tools/call', { name: 'x' }, { timeoutMs: 60_000, ...more });
  // A test may look at it after it was rejected.
  answer.catch(() => undefined);
  return answer;
}

function idsOf(wire: FakeWire, method = 'tools/call'): number[] {
  return wire.asked(method).map(({ id }) => Number(id));
}

function idOf(wire: FakeWire, method = 'tools/call'): number {
  const id = idsOf(wire, method).at(-1);
  if (id === undefined) throw new Error(`${method} was not sent`);
  return id;
}

function silentWire(kind: Wire['kind']): FakeWire {
  return Object.assign(new FakeWire(kind), { isSilent: true });
}

const ada = { principal: 'ada', client: {} };

afterEach(async () => {
  jest.useRealTimers();
  await Promise.all(opened.splice(0).map((session) => session.close()));
});

describe('opening a session', () => {
  it.each(KINDS)('takes what the server says about itself, over %s', async (kind) => {
    const { wire, session } = await open(kind, {}, 'legacy', (server) => {
      server.opening = {
        capabilities: { tools: { listChanged: true }, experimental: { own: { a: 1 } } },
        serverInfo: { name: 'fake', version: '2' },
        instructions: 'Be kind.',
      };
    });
    expect(session.era).toBe('legacy');
    expect(session.protocolVersion).toBe('2025-11-25');
    expect(session.capabilities).toEqual({
      tools: { listChanged: true },
      experimental: { own: { a: 1 } },
    });
    expect(session.serverInfo).toEqual({ name: 'fake', version: '2' });
    expect(session.instructions).toBe('Be kind.');
    expect(session.provenance.isAggregator).toBe(false);
    expect([session.user, session.pending]).toEqual([undefined, 0]);
    expect([wire.protocolVersion, wire.isListening]).toEqual(['2025-11-25', true]);
    expect(session.logs()).toEqual(['a line of its log']);
  });

  it.each(['stdio', 'http'] as const)('takes what a modern server says, over %s', async (kind) => {
    const { wire, session } = await open(kind, {}, 'modern');
    expect([session.era, session.protocolVersion]).toEqual(['modern', '2026-07-28']);
    expect(session.serverInfo).toEqual({ name: 'fake', version: '1' });
    expect(session.capabilities).toEqual({ tools: {} });
    expect(wire.isListening).toBe(false);
  });

  it('sends who we are and what we can', async () => {
    const wire = new FakeWire('stdio');
    await RpcSession.open(wire, OPTIONS, 'legacy');
    expect(wire.asked('initialize')).toMatchObject([
      { params: { clientInfo: OPTIONS.clientInfo, capabilities: { roots: {} } } },
    ]);
    expect(wire.told('notifications/initialized')).toHaveLength(1);
  });

  it('asks a server of unknown era whether it is modern', async () => {
    for (const era of ['legacy', 'modern'] as const) {
      const wire = new FakeWire('stdio', era);
      const session = await RpcSession.open(wire, OPTIONS, undefined);
      expect(wire.asked('server/discover')).toHaveLength(1);
      expect(session.era).toBe(era);
    }
  });

  it('does not ask over SSE, which only legacy servers have', async () => {
    const wire = new FakeWire('sse');
    await RpcSession.open(wire, OPTIONS, undefined);
    expect(wire.asked('server/discover')).toEqual([]);
  });

  it('sends nothing when the session is no longer wanted', async () => {
    const wire = new FakeWire('stdio');
    const signal = AbortSignal.abort();
    await expect(RpcSession.open(wire, { ...OPTIONS, signal }, 'legacy')).rejects.toThrow(
      'no longer wanted',
    );
    expect(wire.sent).toEqual([]);
  });

  it('closes the wire at the deadline', async () => {
    const wire = silentWire('stdio');
    const opening = RpcSession.open(wire, { ...OPTIONS, connectTimeoutMs: 30 }, 'legacy');
    await expect(opening).rejects.toThrow(ConnectFailed);
    expect(wire.closes).toEqual([{ force: true }]);
  });

  it('closes the wire when it is no longer wanted meanwhile', async () => {
    const wire = silentWire('stdio');
    const controller = new AbortController();
    const { signal } = controller;
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'queueMicrotask', 'nextTick'] });
    const opening = RpcSession.open(wire, { ...OPTIONS, signal }, 'legacy');
    await setImmediate();
    controller.abort();
    await expect(opening).rejects.toThrow('no longer wanted');
    expect([wire.closes, jest.getTimerCount()]).toEqual([[{ force: true }], 0]);
  });

  it('ends with the reason when the wire ends', async () => {
    const wire = silentWire('sse');
    const opening = RpcSession.open(wire, OPTIONS, 'legacy');
    await setImmediate();
    wire.listener.onEnd(new ConnectionLost('the stream broke', 'unknown'));
    await expect(opening).rejects.toThrow('Connecting failed: the stream broke');
  });

  it('ends with a message that is too large', async () => {
    const wire = silentWire('http');
    const opening = RpcSession.open(wire, OPTIONS, 'legacy');
    await setImmediate();
    wire.listener.onOversized(undefined, new AnswerTooLarge(7));
    await expect(opening).rejects.toThrow('larger than 7 bytes');
  });

  it('refuses a server that is this deployment', async () => {
    const loop = open('stdio', { deploymentId: 'me' }, 'legacy', (server) => {
      server.opening = { ...server.opening, _meta: { 'switchboard/via': ['me'] } };
    });
    await expect(loop).rejects.toThrow('this is the aggregator itself');
  });
});

describe('a request', () => {
  it.each(KINDS)('gets its own answer, over %s', async (kind) => {
    const { wire, session } = await open(kind);
    const [one, two] = [call(session), call(session)];
    const [first = 0, second = 0] = idsOf(wire);
    wire.answer(second, { content: [2] });
    wire.answer(first, { content: [1] });
    expect(await Promise.all([one, two])).toEqual([{ content: [1] }, { content: [2] }]);
    expect(wire.asked('tools/call')[0]).toEqual({
      jsonrpc: '2.0',
      id: first,
      method: 'tools/call',
      params: { name: 'x' },
    });
    expect(wire.told('notifications/cancelled')).toEqual([]);
  });

  it.each(KINDS)('gets the error of the server, over %s', async (kind) => {
    const { wire, session } = await open(kind);
    const asked = call(session);
    const id = idOf(wire);
    const error = { code: -7, message: 'no', data: { why: 1 } };
    wire.say({ jsonrpc: '2.0', id, error }, id);
    await expect(asked).rejects.toMatchObject({ rpc: error });
    expect(wire.reading.notes).toEqual(['message', 'answer']);
  });

  it('gets an error without an id in its own exchange', async () => {
    const { wire, session } = await open('http');
    const asked = call(session);
    const id = idOf(wire);
    wire.say({ jsonrpc: '2.0', id: null, error: { code: -7, message: 'no' } }, id);
    await expect(asked).rejects.toMatchObject({ rpc: { code: -7 } });
  });

  it('does not get an error without an id of a stream that all requests share', async () => {
    const { wire, session } = await open('stdio');
    const asked = call(session);
    wire.say({ jsonrpc: '2.0', id: null, error: { code: -7, message: 'no' } });
    wire.answer(idOf(wire), RESULT);
    await expect(asked).resolves.toEqual(RESULT);
  });

  it('accepts its id as a text', async () => {
    const { wire, session } = await open('stdio');
    const asked = call(session);
    wire.say({ jsonrpc: '2.0', id: String(idOf(wire)), result: RESULT });
    await expect(asked).resolves.toEqual(RESULT);
  });

  it('fails when its result is no object', async () => {
    for (const kind of KINDS) {
      const { wire, session } = await open(kind);
      const asked = call(session);
      const id = idOf(wire);
      wire.say({ jsonrpc: '2.0', id, result: 7 }, id);
      await expect(asked).rejects.toThrow('a result is no object');
    }
  });

  it('gets its answer from a batch, which is charged as messages', async () => {
    const { wire, session } = await open('stdio');
    const asked = call(session);
    const ping = { jsonrpc: '2.0', id: 'theirs', method: 'ping' };
    wire.say([ping, { jsonrpc: '2.0', id: idOf(wire), result: RESULT }]);
    await expect(asked).resolves.toEqual(RESULT);
    expect(wire.reading.notes).toEqual(['message', 'answer', 'batch']);
    expect(wire.sent.at(-1)?.message).toEqual({ jsonrpc: '2.0', id: 'theirs', result: {} });
  });

  it('is not charged for its answer, but an answer that no request waits for is', async () => {
    const { wire, session } = await open('http');
    const asked = call(session);
    const id = idOf(wire);
    wire.answer(id, RESULT);
    wire.answer(id, RESULT);
    wire.say({ jsonrpc: '2.0', id, error: { code: 1, message: '' } }, id);
    await asked;
    expect(wire.reading.notes).toEqual(['message', 'answer', 'message', 'message']);
  });

  it.each(KINDS)('fails with what kept it from being sent, over %s', async (kind) => {
    const { wire, session } = await open(kind);
    wire.serve = () => new UpstreamHttpError(500, 'broken');
    await expect(call(session)).rejects.toThrow('HTTP 500');
    wire.serve = () =>
      new UpstreamHttpError(400, '{"jsonrpc":"2.0","id":null,"error":{"code":-3,"message":"bad"}}');
    await expect(call(session)).rejects.toMatchObject({ rpc: { code: -3, message: 'bad' } });
    expect(session.pending).toBe(0);
  });

  it('fails when its exchange ends without an answer', async () => {
    const { wire, session } = await open('http');
    const asked = call(session);
    wire.endExchange(idOf(wire));
    await expect(asked).rejects.toMatchObject({
      reason: 'there was no answer in its answer',
      executed: 'unknown',
    });
  });

  it('fails when its exchange brings the id of another request', async () => {
    const { wire, session } = await open('http');
    const [one, two] = [call(session), call(session)];
    const [first = 0, second = 0] = idsOf(wire);
    wire.say({ jsonrpc: '2.0', id: second, result: RESULT }, first);
    await expect(one).rejects.toThrow('with the id of another');
    expect(wire.abandoned).toEqual([first]);
    wire.answer(second, RESULT);
    await expect(two).resolves.toEqual(RESULT);
  });

  it('is cancelled at the server when its caller cancels it', async () => {
    const { wire, session } = await open('stdio');
    const controller = new AbortController();
    const asked = call(session, { signal: controller.signal });
    const id = idOf(wire);
    controller.abort();
    await expect(asked).rejects.toMatchObject({ code: 'REQUEST_CANCELLED' });
    expect(wire.abandoned).toEqual([id]);
    expect(wire.told('notifications/cancelled')).toEqual([
      { requestId: id, reason: 'The request was cancelled by its caller' },
    ]);
  });

  it('is not sent when its caller has cancelled it before', async () => {
    const { wire, session } = await open('stdio');
    const asked = call(session, { signal: AbortSignal.abort() });
    await expect(asked).rejects.toMatchObject({ code: 'REQUEST_CANCELLED' });
    expect(wire.sent).toEqual([]);
  });

  it('is cancelled at its deadline, and a late answer does not end the session', async () => {
    const { wire, session } = await open('stdio');
    await expect(call(session, { timeoutMs: 5 })).rejects.toMatchObject({ kind: 'timeout' });
    expect(wire.told('notifications/cancelled')).toHaveLength(1);
    wire.answer(idOf(wire), RESULT);
    const next = call(session);
    wire.answer(idOf(wire), RESULT);
    await expect(next).resolves.toEqual(RESULT);
  });

  it('counts as pending unless the service itself sent it', async () => {
    const { wire, session } = await open('stdio');
    const asked = call(session);
    const ping = session.request('ping', undefined, { timeoutMs: 60_000 });
    expect(session.pending).toBe(1);
    wire.answer(idOf(wire), RESULT);
    wire.answer(idOf(wire, 'ping'), {});
    await Promise.all([asked, ping]);
    expect(session.pending).toBe(0);
  });

  it('names its user', async () => {
    const { wire, session } = await open('http');
    void call(session, { caller: ada });
    expect([session.user, wire.sent[0]?.principal]).toEqual(['ada', 'ada']);
    void call(session, { caller: { principal: 'bob', client: {} } });
    expect(session.user).toBeNull();
  });

  it('carries its meta, and a token for progress that is its id', async () => {
    const { wire, session } = await open('stdio');
    const heard: JsonObject[] = [];
    void call(session, { meta: { trace: 1 }, onProgress: (params) => heard.push(params) });
    const id = idOf(wire);
    expect(wire.asked('tools/call')[0]?.params).toEqual({
      name: 'x',
      _meta: { trace: 1, progressToken: id },
    });
    const params = { progressToken: id, progress: 1 };
    wire.say({ jsonrpc: '2.0', method: 'notifications/progress', params });
    expect(heard).toEqual([params]);
  });

  it('names the aggregators that it passed through to another aggregator', async () => {
    const { wire, session } = await open('stdio', { deploymentId: 'me' }, 'legacy', (server) => {
      server.opening = { ...server.opening, _meta: { 'switchboard/via': ['other'] } };
    });
    void call(session, { meta: { trace: 1 } });
    expect(wire.asked('tools/call')[0]?.params).toEqual({
      name: 'x',
      _meta: { 'switchboard/via': ['me'], trace: 1 },
    });
  });

  it('gets no credentials of the server in its answer', async () => {
    const { wire, session } = await open('stdio', { credentials: ['canary-7f3a9c'] });
    const asked = call(session);
    wire.answer(idOf(wire), { text: 'my key is canary-7f3a9c' });
    await expect(asked).resolves.toEqual({ text: 'my key is ********' });
  });

  it('fails when its answer consists of credentials of the server', async () => {
    const { wire, session } = await open('http', { credentials: ['canary-7f3a9c'] });
    const asked = call(session);
    const text = Array.from({ length: 1_001 }, () => 'canary-7f3a9c');
    wire.say({ jsonrpc: '2.0', id: idOf(wire), result: { text } }, idOf(wire));
    await expect(asked).rejects.toThrow('a message repeats its credentials too often');
    expect(wire.say({ text })).toBe(true);
  });
});

describe('ids of requests', () => {
  const stepsOf = async (kind: Wire['kind']): Promise<number[]> => {
    const { wire, session } = await open(kind);
    for (let i = 0; i < 20; i++) void call(session);
    const ids = idsOf(wire);
    return ids.slice(1).map((id, i) => id - (ids[i] ?? 0));
  };

  it('cannot be guessed on a stream that all requests share', async () => {
    for (const kind of SHARED) expect(new Set(await stepsOf(kind)).size).toBeGreaterThan(5);
    expect(new Set(await stepsOf('http'))).toEqual(new Set([1]));
  });

  it.each(SHARED)('end the session when the server answers one twice, over %s', async (kind) => {
    const { wire, session } = await open(kind);
    const asked = call(session);
    const waiting = call(session);
    const [first = 0] = idsOf(wire);
    wire.answer(first, RESULT);
    await asked;
    wire.answer(first, RESULT);
    await expect(waiting).rejects.toMatchObject({ executed: 'unknown' });
    await expect(session.closed).resolves.toEqual({
      reason: 'The connection to the server was lost: it answered a request twice',
      cause: 'lost',
    });
    expect(wire.closes).toEqual([{ force: true }]);
  });
});

describe('a message that is no JSON', () => {
  it.each(SHARED)('fails the request that it seems to answer, over %s', async (kind) => {
    const { wire, session } = await open(kind);
    const [one, two] = [call(session), call(session)];
    const [first = 0, second = 0] = idsOf(wire);
    expect(wire.say(`{"jsonrpc":"2.0","id":${first},"result":{"a":}}`)).toBe(true);
    await expect(one).rejects.toThrow('its answer is not JSON');
    wire.answer(second, RESULT);
    await expect(two).resolves.toEqual(RESULT);
  });

  it('fails the only request when it does not say which one it answers', async () => {
    const { wire, session } = await open('stdio');
    const asked = call(session);
    expect(wire.say('{"jsonrpc":"2.0","result":{"a":}}')).toBe(true);
    await expect(asked).rejects.toThrow('its answer is not JSON');
  });

  it('fails the request of its exchange', async () => {
    const { wire, session } = await open('http');
    const [one] = [call(session), call(session)];
    const [first = 0] = idsOf(wire);
    wire.say('{"jsonrpc":"2.0","id":7,"result":{"a":}}', first);
    await expect(one).rejects.toThrow('its answer is not JSON');
    expect(session.pending).toBe(1);
  });

  it('is a line of the log when it does not look like a message', async () => {
    const { wire, session } = await open('stdio');
    const asked = call(session);
    expect(wire.say('{ starting')).toBe(false);
    expect(wire.say('{"level":"info"}')).toBe(false);
    wire.answer(idOf(wire), RESULT);
    await expect(asked).resolves.toEqual(RESULT);
  });

  it('fails no request when it is a notification', async () => {
    const { wire, session } = await open('stdio');
    const asked = call(session);
    expect(wire.say('{"jsonrpc":"2.0","method":"notifications/message","params":{')).toBe(true);
    wire.answer(idOf(wire), RESULT);
    await expect(asked).resolves.toEqual(RESULT);
  });
});

describe('an answer that is too large', () => {
  const tooLarge = new AnswerTooLarge(7);

  it.each(KINDS)('fails its request, over %s', async (kind) => {
    const { wire, session } = await open(kind);
    const [one, two] = [call(session), call(session)];
    const [first = 0, second = 0] = idsOf(wire);
    wire.listener.onOversized(first, tooLarge);
    await expect(one).rejects.toBe(tooLarge);
    expect(wire.told('notifications/cancelled')).toMatchObject([{ requestId: first }]);
    wire.answer(second, RESULT);
    await expect(two).resolves.toEqual(RESULT);
  });

  it('fails the only request when its own is not known', async () => {
    const { wire, session } = await open('stdio');
    const asked = call(session);
    wire.listener.onOversized(undefined, tooLarge);
    await expect(asked).rejects.toBe(tooLarge);
    expect(wire.closes).toEqual([]);
  });

  it('ends the session when it can be the answer to several requests', async () => {
    const { wire, session } = await open('stdio');
    const asked = [call(session), call(session)];
    wire.listener.onOversized(undefined, tooLarge);
    for (const one of asked) await expect(one).rejects.toBe(tooLarge);
    await expect(session.closed).resolves.toEqual({ reason: tooLarge.message, cause: 'lost' });
  });

  it.each(KINDS)('does nothing when no request can wait for it, over %s', async (kind) => {
    const { wire, session } = await open(kind);
    if (kind === 'http') void call(session);
    wire.listener.onOversized(undefined, tooLarge);
    expect([session.pending, wire.closes]).toEqual([kind === 'http' ? 1 : 0, []]);
  });
});

describe('the end of a session', () => {
  it('fails what was sent as unknown, and what was not sent as not executed', async () => {
    for (const [hasSentAll, executed] of [
      [true, 'unknown'],
      [false, 'no'],
    ] as const) {
      const { wire, session } = await open('stdio');
      const asked = call(session);
      wire.hasSentAll = hasSentAll;
      wire.listener.onEnd(new ConnectionLost('it died', 'unknown'));
      await expect(asked).rejects.toMatchObject({ reason: 'it died', executed });
      await expect(session.closed).resolves.toMatchObject({ cause: 'lost' });
      expect(wire.closes).toEqual([{ force: true }]);
    }
  });

  it('is reported once, and later requests are not sent', async () => {
    const { wire, session } = await open('stdio');
    await session.close();
    wire.listener.onEnd(new ConnectionLost('it died', 'unknown'));
    await expect(session.closed).resolves.toEqual({
      reason: 'The connection to the server was lost: the session was closed',
      cause: 'asked',
    });
    await expect(call(session)).rejects.toMatchObject({ reason: 'it has ended', executed: 'no' });
    await expect(session.notify('notifications/x')).rejects.toThrow('the session was closed');
    expect(wire.sent).toEqual([]);
    expect(wire.closes).toEqual([{}, { force: true }]);
  });

  it('passes on how to close', async () => {
    const { wire, session } = await open('stdio');
    await session.close({ force: true });
    expect(wire.closes).toEqual([{ force: true }]);
  });

  it('drops what the server still says', async () => {
    const { wire, session } = await open('stdio');
    const heard: string[] = [];
    session.onNotification((method) => heard.push(method));
    const say = (method: string) => wire.say({ jsonrpc: '2.0', method });
    expect(say('notifications/tools/list_changed')).toBe(true);
    await session.close();
    expect(say('notifications/other')).toBe(true);
    expect(heard).toEqual(['notifications/tools/list_changed']);
  });

  it('returns the memory of its lists', async () => {
    const listing = new SharedBudget(1_000_000);
    const { wire, session } = await open('stdio', { listing });
    wire.serve = () => ({ tools: [{ name: 'a' }] });
    await session.listAll('tools', { maxItems: 10, maxPages: 1, timeoutMs: 60_000 });
    expect(listing.held).toBeGreaterThan(0);
    await session.close();
    expect(listing.held).toBe(0);
  });

  it('comes with refused credentials (401), which says that what was not sent was refused', async () => {
    const { wire, session } = await open('http');
    const [waiting, unsent] = [call(session), call(session)];
    const refused = new CredentialsRefused(401);
    wire.breakExchange(idsOf(wire)[0] ?? 0, refused);
    wire.hasSentAll = false;
    await expect(waiting).rejects.toBe(refused);
    await expect(unsent).rejects.toBe(refused);
    await expect(session.closed).resolves.toEqual({ reason: refused.message, cause: 'refused' });
  });

  it('leaves it unknown whether what was sent before a refusal was executed', async () => {
    const { wire, session } = await open('http');
    const [waiting, sent] = [call(session), call(session)];
    wire.breakExchange(idsOf(wire)[0] ?? 0, new CredentialsRefused(401));
    await expect(waiting).rejects.toBeInstanceOf(CredentialsRefused);
    await expect(sent).rejects.toMatchObject({
      reason: 'The server refused the credentials (HTTP 401)',
      executed: 'unknown',
    });
  });

  it('does not come with a refusal of one tool (403)', async () => {
    const { wire, session } = await open('http');
    const [waiting] = [call(session), call(session)];
    wire.breakExchange(idsOf(wire)[0] ?? 0, new CredentialsRefused(403));
    await expect(waiting).rejects.toBeInstanceOf(CredentialsRefused);
    expect([session.pending, wire.closes]).toEqual([1, []]);
  });
});

describe('a connection that broke', () => {
  it.each(['sse', 'http'] as const)('is verified by one ping, over %s', async (kind) => {
    const { wire, session } = await open(kind);
    wire.serve = (message) =>
      'method' in message && message.method === 'tools/call'
        ? new ConnectionLost('reset', 'unknown')
        : undefined;
    await Promise.allSettled([call(session), call(session)]);
    expect(wire.asked('ping')).toHaveLength(1);
    const known: string[] = [];
    void session.verified.then(() => known.push('known'));
    await setImmediate();
    expect(known).toEqual([]);
    wire.answer(idOf(wire, 'ping'), {});
    await session.verified;
    await setImmediate();
    expect([known, session.pending]).toEqual([['known'], 0]);
    await Promise.allSettled([call(session)]);
    expect(wire.asked('ping')).toHaveLength(2);
  });

  it('is not verified where a process would have ended', async () => {
    const { wire, session } = await open('stdio');
    wire.serve = () => new ConnectionLost('reset', 'unknown');
    await Promise.allSettled([call(session)]);
    await session.verified;
    expect(wire.asked('ping')).toEqual([]);
  });
});

describe('a session that the server lost', () => {
  const isInitialize = (message: object): boolean =>
    'method' in message && message.method === 'initialize';

  it('is replaced once for all requests that notice, and each is sent again', async () => {
    const { wire, session } = await open('http');
    let renewals = 0;
    session.onRenewal(() => renewals++);
    const asked = [call(session), call(session)];
    const ids = idsOf(wire);
    for (const id of ids) wire.breakExchange(id, new SessionExpired());
    await setImmediate();
    expect(wire.asked('initialize')).toHaveLength(1);
    expect(idsOf(wire)).toEqual([...ids, ...ids]);
    for (const id of ids) wire.answer(id, RESULT);
    await expect(Promise.all(asked)).resolves.toEqual([RESULT, RESULT]);
    expect([renewals, wire.timesForgotten]).toEqual([1, 1]);
  });

  it('holds new requests back until it is replaced', async () => {
    const { wire, session } = await open('http');
    wire.isSilent = true;
    const first = call(session);
    wire.breakExchange(idOf(wire), new SessionExpired());
    await setImmediate();
    const second = call(session);
    await setImmediate();
    expect(idsOf(wire)).toHaveLength(1);
    const opening = { protocolVersion: '2025-11-25', ...wire.opening };
    wire.answer(wire.asked('initialize')[0]?.id ?? '', opening);
    await setImmediate();
    const [, firstId = 0, secondId = 0] = idsOf(wire);
    wire.answer(firstId, RESULT);
    wire.answer(secondId, RESULT);
    await expect(Promise.all([first, second])).resolves.toEqual([RESULT, RESULT]);
  });

  it('is replaced when its stream says so, unless that concerns an earlier one', async () => {
    const { wire } = await open('http');
    wire.listener.onExpired(wire.epoch - 1);
    await setImmediate();
    expect(wire.asked('initialize')).toEqual([]);
    wire.listener.onExpired(wire.epoch);
    await setImmediate();
    expect(wire.asked('initialize')).toHaveLength(1);
  });

  it('ends when the server gives no new one', async () => {
    const { wire, session } = await open('http');
    wire.serve = () => new UpstreamHttpError(500, '');
    const waiting = call(session);
    await expect(waiting).rejects.toThrow('HTTP 500');
    wire.serve = (message) =>
      isInitialize(message) ? new UpstreamHttpError(500, '') : new SessionExpired();
    await expect(call(session)).rejects.toMatchObject({ executed: 'no' });
    await expect(session.closed).resolves.toMatchObject({
      reason: expect.stringContaining('forgot the session and gave no new one') as string,
      cause: 'lost',
    });
  });

  it('ends as refused when the server refuses the credentials', async () => {
    const { wire, session } = await open('http');
    wire.serve = (message) =>
      isInitialize(message) ? new CredentialsRefused(401) : new SessionExpired();
    await expect(call(session)).rejects.toBeInstanceOf(CredentialsRefused);
    await expect(session.closed).resolves.toMatchObject({ cause: 'refused' });
  });

  it('does not send a request a third time', async () => {
    const { wire, session } = await open('http');
    wire.serve = (message) =>
      'method' in message && message.method === 'tools/call' ? new SessionExpired() : undefined;
    await expect(call(session)).rejects.toMatchObject({
      reason: 'the server forgets every session',
      executed: 'no',
    });
    expect(idsOf(wire)).toHaveLength(2);
  });

  it('does not send a request again that was cancelled meanwhile', async () => {
    const { wire, session } = await open('http');
    const controller = new AbortController();
    const asked = call(session, { signal: controller.signal });
    const id = idOf(wire);
    wire.breakExchange(id, new SessionExpired());
    controller.abort();
    await expect(asked).rejects.toMatchObject({ code: 'REQUEST_CANCELLED' });
    await setImmediate();
    expect(idsOf(wire)).toEqual([id]);
  });
});

describe('a server that was restarted in the other era', () => {
  const unsupported = new UpstreamHttpError(
    400,
    '{"jsonrpc":"2.0","id":null,"error":{"code":-32022,"message":"Unsupported protocol version"}}',
  );

  it('gets the request of a legacy session as a modern one', async () => {
    const { wire, session } = await open('http');
    const asked = call(session, { timeoutMs: 60_000 });
    wire.era = 'modern';
    wire.breakExchange(idOf(wire), unsupported);
    await setImmediate();
    await setImmediate();
    expect([session.era, wire.isListening]).toEqual(['modern', false]);
    const again = wire.asked('tools/call').at(-1);
    expect(again?.params?.['_meta']).toMatchObject({
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    });
    wire.answer(again?.id ?? '', RESULT);
    await expect(asked).resolves.toEqual(RESULT);
  });

  it('gets the request of a modern session as a legacy one', async () => {
    const { wire, session } = await open('http', {}, 'modern');
    const asked = call(session);
    wire.era = 'legacy';
    wire.breakExchange(
      idOf(wire),
      new UpstreamHttpError(400, 'Bad Request: Server not initialized'),
    );
    await setImmediate();
    await setImmediate();
    expect([session.era, wire.isListening]).toEqual(['legacy', true]);
    const again = wire.asked('tools/call').at(-1);
    expect(again?.params).toEqual({ name: 'x' });
    wire.answer(again?.id ?? '', RESULT);
    await expect(asked).resolves.toEqual(RESULT);
  });

  it('gets the probe of a modern session as a ping', async () => {
    const { wire, session } = await open('http', {}, 'modern');
    wire.era = 'legacy';
    wire.serve = (message) => {
      if (!('method' in message)) return undefined;
      if (message.method === 'server/discover') return new UpstreamHttpError(404, 'Not Found');
      return message.method === 'ping' ? {} : undefined;
    };
    const ping = session.request('ping', undefined, { timeoutMs: 60_000 });
    await expect(ping).resolves.toBeDefined();
    expect(session.era).toBe('legacy');
  });

  it('is not followed through another change', async () => {
    const { wire, session } = await open('http');
    wire.era = 'modern';
    wire.serve = (message) => {
      if (!('method' in message) || message.method !== 'tools/call') return undefined;
      const isTranslated = message.params?.['_meta'] !== undefined;
      wire.era = isTranslated ? 'legacy' : 'modern';
      return isTranslated ? new UpstreamHttpError(400, 'no session') : unsupported;
    };
    await expect(call(session)).rejects.toMatchObject({
      reason: 'the server changes its protocol era again and again',
      executed: 'no',
    });
  });
});

describe('a modern session', () => {
  const announcing = (wire: FakeWire): void => {
    wire.opening = { ...wire.opening, capabilities: { tools: { listChanged: true } } };
  };

  it.each(['stdio', 'http'] as const)('keeps a stream for changes open, over %s', async (kind) => {
    const { wire, session } = await open(kind, {}, 'modern', (server) => {
      announcing(server);
      // Kept by `sent`, which `open` clears.
      server.serve = () => undefined;
    });
    await session.request('resources/subscribe', { uri: 'a:b' }, { timeoutMs: 60_000 });
    await setImmediate();
    const [listening] = wire.asked('subscriptions/listen');
    expect(listening?.params).toMatchObject({
      notifications: { toolsListChanged: true, resourceSubscriptions: ['a:b'] },
    });
    expect(wire.abandoned).toHaveLength(1);
    expect(wire.told('notifications/cancelled')).toHaveLength(kind === 'http' ? 0 : 1);
    expect(session.pending).toBe(0);
  });

  it('hears of changes on that stream, and opens no other one after its end', async () => {
    const { wire, session } = await open('stdio', {}, 'modern', announcing);
    const heard: string[] = [];
    session.onNotification((method) => heard.push(method));
    wire.say({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    expect(heard).toEqual(['notifications/tools/list_changed']);
    await session.close();
    await setImmediate();
    expect(wire.asked('subscriptions/listen')).toEqual([]);
  });

  it.each([
    ['is cancelled by the server', 'stdio', true],
    ['is answered', 'stdio', true],
    ['is refused', 'stdio', true],
    ['ends its exchange', 'http', true],
    ['is sent', 'stdio', false],
  ] as const)(
    'opens its stream again a second after it %s (%s): %s',
    async (what, kind, isOver) => {
      const { wire, session } = await open(kind, {}, 'modern');
      jest.useFakeTimers({ doNotFake: ['setImmediate', 'queueMicrotask', 'nextTick'] });
      await session.request('resources/subscribe', { uri: 'a:b' }, { timeoutMs: 60_000 });
      await jest.advanceTimersByTimeAsync(0);
      const id = idOf(wire, 'subscriptions/listen');
      const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled' };
      wire.say({ ...cancelled, params: { requestId: id + 1 } });
      wire.say({ jsonrpc: '2.0', method: 'notifications/other', params: { requestId: id } });
      if (what === 'is cancelled by the server')
        wire.say({ ...cancelled, params: { requestId: id } });
      if (what === 'is answered') wire.answer(id, {});
      if (what === 'is refused') wire.say({ jsonrpc: '2.0', id, error: { code: 1, message: '' } });
      if (what === 'ends its exchange') wire.endExchange(id);
      await jest.advanceTimersByTimeAsync(999);
      expect(wire.asked('subscriptions/listen')).toHaveLength(1);
      await jest.advanceTimersByTimeAsync(1);
      expect(wire.asked('subscriptions/listen')).toHaveLength(isOver ? 2 : 1);
    },
  );

  it('closes the exchange of a cancelled request, which is the cancellation', async () => {
    const { wire, session } = await open('http', {}, 'modern');
    const controller = new AbortController();
    void call(session, { signal: controller.signal });
    controller.abort();
    expect(wire.abandoned).toEqual([idOf(wire)]);
    expect(wire.told('notifications/cancelled')).toEqual([]);
  });

  it('repeats arguments in headers where a listed tool asks for that', async () => {
    const { wire, session } = await open('http', {}, 'modern');
    const inputSchema = {
      type: 'object',
      properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
    };
    wire.serve = (message) =>
      'method' in message && message.method === 'tools/list'
        ? { tools: [{ name: 'x', inputSchema }], resultType: 'complete' }
        : undefined;
    await session.request('tools/list', {}, { timeoutMs: 60_000 });
    void session
      .request('tools/call', { name: 'x', arguments: { region: 'eu' } }, { timeoutMs: 60_000 })
      .catch(() => undefined);
    expect(wire.sent.at(-1)?.headers).toEqual({ 'mcp-param-region': 'eu' });
  });

  it('counts a request that waits for input as pending', async () => {
    const { wire, session } = await open('http', {}, 'modern');
    let give: (answer: JsonObject) => void = () => undefined;
    const asked = call(session, {
      onServerRequest: () => new Promise((resolve) => (give = resolve)),
    });
    wire.answer(idOf(wire), {
      resultType: 'input_required',
      inputRequests: { q: { method: 'elicitation/create', params: {} } },
    });
    await setImmediate();
    expect(session.pending).toBe(1);
    give({ action: 'accept' });
    await setImmediate();
    expect(wire.asked('tools/call').at(-1)?.params).toMatchObject({
      inputResponses: { q: { action: 'accept' } },
    });
    wire.answer(idOf(wire), { ...RESULT, resultType: 'complete' });
    await expect(asked).resolves.toMatchObject(RESULT);
    expect(session.pending).toBe(0);
  });
});

describe('a server that has to forget the roots of a user', () => {
  async function toldOfAda() {
    const { wire, session } = await open('stdio', { clientCapabilities: { roots: {} } });
    session.setRootsProvider(async () => ({
      result: { roots: [{ uri: 'file:///ada' }] },
      principal: 'ada',
    }));
    wire.say({ jsonrpc: '2.0', id: 'r', method: 'roots/list' });
    await setImmediate();
    expect(wire.sent.at(-1)?.message).toMatchObject({
      id: 'r',
      result: { roots: [{ uri: 'file:///ada' }] },
    });
    return { wire, session };
  }
  const bob = { principal: 'bob', client: {} };

  it('is asked to list them again, and gets the call of another user after that', async () => {
    const { wire, session } = await toldOfAda();
    void call(session, { caller: bob });
    expect(wire.told('notifications/roots/list_changed')).toHaveLength(1);
    wire.say({ jsonrpc: '2.0', id: 's', method: 'roots/list' });
    await setImmediate();
    expect(wire.sent.map(({ message }) => message)).toContainEqual({
      jsonrpc: '2.0',
      id: 's',
      result: { roots: [] },
    });
    expect(idsOf(wire)).toEqual([]);
    wire.answer(idOf(wire, 'ping'), {});
    await setImmediate();
    expect(idsOf(wire)).toHaveLength(1);
  });

  it('is given up when it does not ask', async () => {
    const { wire, session } = await toldOfAda();
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'queueMicrotask', 'nextTick'] });
    const asked = call(session, { caller: bob });
    jest.advanceTimersByTime(3_000);
    await expect(asked).rejects.toMatchObject({ executed: 'no' });
    await expect(session.closed).resolves.toMatchObject({
      reason: expect.stringContaining('it keeps the roots of another user') as string,
    });
    expect(idsOf(wire)).toEqual([]);
  });
});

describe('the log of a server', () => {
  it('gets its log messages that belong to no call', async () => {
    const lines: string[] = [];
    const { wire } = await open('stdio', { onLogLine: (line) => lines.push(line) });
    const params = { level: 'info', data: 'ready' };
    wire.say({ jsonrpc: '2.0', method: 'notifications/message', params });
    expect(lines).toEqual(['[info] ready']);
  });
});

describe('a session for the time that this process leads', () => {
  const tenureOf = () => {
    const controller = new AbortController();
    const tenure = { isOver: false, ended: controller.signal };
    return { tenure, end: () => controller.abort() };
  };

  it('ends with it, with an unknown outcome of the calls that were sent', async () => {
    const { tenure, end } = tenureOf();
    const { wire, session } = await open('stdio', { tenure });
    const running = call(session);
    end();
    await expect(running).rejects.toMatchObject({ executed: 'unknown' });
    await expect(session.closed).resolves.toMatchObject({ cause: 'moved' });
    expect(wire.closes).toEqual([{ force: true }]);
  });

  it('sends nothing more when the process stood still, and does not know it yet', async () => {
    const { tenure } = tenureOf();
    const { wire, session } = await open('stdio', { tenure });
    tenure.isOver = true;
    await expect(call(session)).rejects.toMatchObject({ executed: 'no' });
    expect(wire.asked('tools/call')).toEqual([]);
    await expect(session.closed).resolves.toMatchObject({ cause: 'moved' });
  });
});

it.each(SHARED)(
  'asks a user again once an abandoned call of another is answered, over %s',
  async (kind) => {
    const { wire, session } = await open(kind);
    const answers = (): unknown[] =>
      wire.sent.map(({ message }) => message).filter((one) => !('method' in one));
    const askNow = async (): Promise<unknown> => {
      wire.say({ jsonrpc: '2.0', id: `q${answers().length}`, method: 'elicitation/create' });
      await setImmediate();
      return answers().at(-1);
    };
    const giveUp = new AbortController();
    void call(session, { caller: ada, signal: giveUp.signal });
    const abandoned = idOf(wire);
    giveUp.abort();
    void call(session, {
      caller: { principal: 'bob', client: {} },
      onServerRequest: () => Promise.resolve({ action: 'accept' }),
    });
    expect(await askNow()).toMatchObject({ error: {} });
    wire.say({ jsonrpc: '2.0', id: abandoned, result: RESULT });
    expect(await askNow()).toMatchObject({ result: { action: 'accept' } });
  },
);
