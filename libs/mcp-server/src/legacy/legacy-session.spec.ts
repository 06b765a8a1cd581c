import { jest } from '@jest/globals';
import { rpcCode, RpcError } from '@app/mcp-protocol';
import { type JsonObject, RawJsonObject } from '@app/platform';
import { FakeEndpoint, notification, rpc } from '../fake-endpoint.js';
import { FakeView } from '../fake-view.js';
import type { FakeExchange } from '../fake-exchange.js';
import { LegacySession } from './legacy-session.js';

let view: FakeView;
let service: FakeEndpoint;
beforeEach(() => {
  view = new FakeView();
  service = new FakeEndpoint(view);
});
afterEach(() => service.close());

/** Never answers, until its call is aborted; `aborted` has the reasons. */
let aborted: string[];
beforeEach(() => (aborted = []));
const hang: FakeView['handling'] = (_method, _params, { signal }) =>
  new Promise((_, reject) => {
    const abort = (): void => {
      aborted.push((signal.reason as Error).message);
      reject(new Error('aborted'));
    };
    signal.addEventListener('abort', abort, { once: true });
  });

const withForms = { elicitation: {} };
const form = { message: 'Your name?', requestedSchema: {} };

type Session = Record<string, string>;

function answerTo(question: JsonObject | undefined, session: Session, outcome: object) {
  return service.post({ jsonrpc: '2.0', id: question?.['id'], ...outcome }, session);
}

describe(LegacySession.name, () => {
  it('passes method, params and client to the view, and its result on', async () => {
    const session = await service.open({ sampling: {} });
    view.handling = async () => ({ content: [], resultType: 'complete' });
    const answer = await service.post(rpc('tools/call', { name: 'a' }, 'id'), session);
    // `resultType` does not exist in these revisions.
    expect(answer.json).toEqual({ jsonrpc: '2.0', id: 'id', result: { content: [] } });
    expect(view.calls).toMatchObject([{ method: 'tools/call', params: { name: 'a' } }]);
    expect(view.calls[0]?.call).toMatchObject({
      input: {},
      client: {
        era: 'legacy',
        caller: { name: 'alice', subject: 'alice', ip: null },
        capabilities: { sampling: {} },
        logLevel: undefined,
      },
    });
    expect(service.endpoint.runningCalls).toBe(0);
  });

  it('takes the type out of results that are passed on as they came', async () => {
    const session = await service.open();
    view.handling = async () => RawJsonObject.of({ resultType: 'complete', content: [] });
    const answer = await service.post(rpc('tools/call'), session);
    expect(answer.json['result']).toEqual({ content: [] });
  });

  it('tells a call that its client cancelled it, and no call that was answered', async () => {
    const session = await service.open();
    view.handling = hang;
    await service.post(rpc('tools/call', {}, 1), session);
    await service.post(notification('notifications/cancelled', { requestId: 1 }), session);
    expect(aborted).toEqual(['cancelled by the client']);
    view.handling = async () => ({});
    await service.post(rpc('tools/call', {}, 2), session);
    expect(view.calls[1]?.call.signal.aborted).toBe(false);
  });

  it('tells its client nothing before the client listens', async () => {
    const session = await service.open();
    await service.post(rpc('tools/list'), session);
    view.calls[0]?.call.client.tell?.('notifications/x', {});
    const stream = await service.listen(session);
    expect(stream.messages).toEqual([]);
  });

  it('passes params on as an object, also if there are none', async () => {
    const session = await service.open();
    await service.post({ jsonrpc: '2.0', id: 1, method: 'tools/list' }, session);
    expect(view.calls[0]?.params).toEqual({});
  });

  it('answers with the error of the view', async () => {
    const session = await service.open();
    view.handling = () => Promise.reject(new RpcError(7, 'no', { a: 1 }));
    const answer = await service.post(rpc('tools/call'), session);
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: { code: 7, message: 'no', data: { a: 1 } },
    });
  });

  it('has the log level that its client sets', async () => {
    const session = await service.open();
    expect((await service.post(rpc('logging/setLevel', { level: 'error' }), session)).status).toBe(
      200,
    );
    expect(view.calls[0]).toMatchObject({ method: 'logging/setLevel', params: { level: 'error' } });
    expect(view.calls[0]?.call.client.logLevel).toBe('error');
    const refused = await service.post(rpc('logging/setLevel', { level: 'loud' }), session);
    expect(refused.json).toMatchObject({
      error: { code: rpcCode.invalidParams, message: 'unknown log level' },
    });
    expect(view.calls).toHaveLength(1);
  });

  it.each(['resources/subscribe', 'resources/unsubscribe'])(
    'needs a URI for %s',
    async (method) => {
      const session = await service.open();
      const refused = await service.post(rpc(method, { uri: 7 }), session);
      expect(refused.json).toMatchObject({
        error: { code: rpcCode.invalidParams, message: 'uri must be a string' },
      });
    },
  );

  it('subscribes, tells of updates, and unsubscribes', async () => {
    const session = await service.open();
    const stream = await service.listen(session);
    const answer = await service.post(rpc('resources/subscribe', { uri: 'a:' }), session);
    expect(answer.json).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
    view.updated('b:');
    view.updated('a:');
    expect((await stream.settled()).messages).toEqual([
      { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'a:' } },
    ]);
    const released = await service.post(rpc('resources/unsubscribe', { uri: 'a:' }), session);
    expect(released.json).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
    expect(view.subscribed).toEqual([]);
    expect(view.calls).toEqual([]);
  });
});

describe('a question to a client with a session', () => {
  let session: Session;
  let call: FakeExchange;
  let outcome: unknown;
  const ask = async (capabilities: JsonObject = withForms): Promise<JsonObject | undefined> => {
    session = await service.open(capabilities);
    view.handling = async (_method, _params, running) => {
      const asked = running.ask('elicitation/create', form);
      asked.catch((error: unknown) => (outcome = error));
      return { was: await asked };
    };
    call = await service.post(rpc('tools/call'), session);
    return call.messages[0];
  };
  beforeEach(() => (outcome = undefined));

  it('goes with the stream of its call, and its answer into the result', async () => {
    const question = await ask();
    expect(question).toEqual({ jsonrpc: '2.0', id: 1, method: 'elicitation/create', params: form });
    await answerTo(question, session, { result: { action: 'decline' } });
    expect((await call.settled()).messages.at(-1)).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: { was: { action: 'decline' } },
    });
    expect(call.messages).toHaveLength(2);
  });

  it('fails with the error that the client answers', async () => {
    const question = await ask();
    await answerTo(question, session, { error: { code: 5, message: 'never', data: { a: 1 } } });
    expect((await call.settled()).messages.at(-1)).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: { code: 5, message: 'never', data: { a: 1 } },
    });
  });

  it('is answered by its id alone', async () => {
    const question = await ask();
    await answerTo({ id: 99 }, session, { result: {} });
    await answerTo({ id: '1' }, session, { result: {} });
    await answerTo({ id: null }, session, { error: { code: 1, message: 'x' } });
    expect((await call.settled()).hasEnded).toBe(false);
    await answerTo(question, session, { result: {} });
    expect((await call.settled()).hasEnded).toBe(true);
  });

  it('is not sent to a client that did not declare it', async () => {
    await ask({ sampling: {} });
    expect(call.json).toMatchObject({
      error: { code: rpcCode.methodNotFound, message: 'The client does not support elicitation' },
    });
  });

  it('is taken back when the client cancels its call', async () => {
    const question = await ask();
    await service.post(notification('notifications/cancelled', { requestId: 1 }), session);
    expect((await call.settled()).messages).toEqual([
      question,
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
    ]);
    expect(call.hasEnded).toBe(true);
    expect(outcome).toEqual(new Error('the question was taken back'));
  });

  it('is taken back by its own signal, and the call continues', async () => {
    session = await service.open(withForms);
    const { signal, abort } = abortable();
    view.handling = async (_method, _params, running) => {
      const refused = running.ask('elicitation/create', form, signal).catch(String);
      setImmediate(abort);
      return { was: await refused };
    };
    call = await service.post(rpc('tools/call'), session);
    expect(call.messages.slice(1)).toEqual([
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
      { jsonrpc: '2.0', id: 1, result: { was: 'Error: the question was taken back' } },
    ]);
  });

  it('is not sent when its signal is aborted already', async () => {
    session = await service.open(withForms);
    view.handling = async (_method, _params, running) => ({
      was: await running.ask('elicitation/create', form, AbortSignal.abort('late')).catch(String),
    });
    call = await service.post(rpc('tools/call'), session);
    expect(call.json['result']).toEqual({ was: 'late' });
  });

  it('is taken back when the call ends without its answer', async () => {
    session = await service.open(withForms);
    view.handling = async (_method, _params, running) => {
      running.ask('elicitation/create', form).catch((error: unknown) => (outcome = error));
      return {};
    };
    call = await service.post(rpc('tools/call'), session);
    expect(call.messages.map(({ method, result }) => method ?? result)).toEqual([
      'elicitation/create',
      'notifications/cancelled',
      {},
    ]);
    expect(outcome).toEqual(new Error('the question was taken back'));
  });

  it('is not taken back after it was answered', async () => {
    session = await service.open(withForms);
    const { signal, abort } = abortable();
    view.handling = async (_method, _params, running) => {
      const answer = await running.ask('elicitation/create', form, signal);
      abort();
      return answer;
    };
    call = await service.post(rpc('tools/call'), session);
    await answerTo(call.messages[0], session, { result: { a: 1 } });
    expect((await call.settled()).messages.slice(1)).toEqual([
      { jsonrpc: '2.0', id: 1, result: { a: 1 } },
    ]);
  });

  it('is not asked when the client went away before it', async () => {
    session = await service.open(withForms);
    let isGone = (): void => undefined;
    const gone = new Promise<void>((resolve) => (isGone = resolve));
    view.handling = async (_method, _params, running) => {
      await gone;
      running.ask('elicitation/create', form).catch((error: unknown) => (outcome = error));
      return {};
    };
    call = service.begin('POST', rpc('tools/call'), session);
    await call.settled();
    call.disconnect();
    await call.settled();
    isGone();
    await call.settled();
    expect(outcome).toEqual(new Error('the client went away'));
  });

  it('is taken back from a client that does not come back to its stream', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    try {
      await ask();
      jest.advanceTimersByTime(60_000);
      expect(outcome).toBeUndefined();
      call.disconnect();
      await call.settled();
      jest.advanceTimersByTime(5_000);
      expect(outcome).toBeUndefined();
      jest.advanceTimersByTime(5_000);
      await call.settled();
      expect(outcome).toEqual(new Error('the question was taken back'));
    } finally {
      jest.useRealTimers();
    }
  });

  it('fails when the session ends', async () => {
    await ask();
    await service.begin('DELETE', undefined, session).settled();
    expect(outcome).toBeInstanceOf(Error);
    expect((await call.settled()).messages.at(-1)).toMatchObject({
      error: { code: rpcCode.serverError, data: { error_code: 'SESSION_NOT_FOUND' } },
    });
  });
});

function abortable() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort(new Error('enough')) };
}

describe('a standing stream', () => {
  let session: Session;
  beforeEach(async () => {
    session = await service.open();
  });

  it('has the changes of the view, and the messages to the client', async () => {
    const stream = await service.listen(session);
    expect([stream.status, stream.headers['content-type']]).toEqual([200, 'text/event-stream']);
    expect(service.endpoint.standingStreams).toBe(1);
    view.change({ kind: 'prompts' });
    await service.post(rpc('tools/list'), session);
    view.calls[0]?.call.client.tell?.('notifications/x', { a: 1 });
    expect((await stream.settled()).events).toEqual([
      {
        id: '1-1',
        message: { jsonrpc: '2.0', method: 'notifications/prompts/list_changed', params: {} },
      },
      { id: '1-2', message: { jsonrpc: '2.0', method: 'notifications/x', params: { a: 1 } } },
    ]);
  });

  it('has the log messages of its user that have the level', async () => {
    const stream = await service.listen(session);
    const log = (level: string, user = 'alice') =>
      view.change({ kind: 'log', params: { level, data: user }, user });
    log('error');
    await service.post(rpc('logging/setLevel', { level: 'warning' }), session);
    log('info');
    log('error', 'bob');
    log('error');
    expect((await stream.settled()).messages).toEqual([
      {
        jsonrpc: '2.0',
        method: 'notifications/message',
        params: { level: 'error', data: 'alice' },
      },
    ]);
  });

  it('is the newest of several, and the one before when that is gone', async () => {
    const first = await service.listen(session);
    const second = await service.listen(session);
    view.change({ kind: 'tools' });
    second.disconnect();
    await second.settled();
    view.change({ kind: 'prompts' });
    const methods = ({ messages }: FakeExchange) => messages.map(({ method }) => method);
    expect(methods(await second.settled())).toEqual(['notifications/tools/list_changed']);
    expect(methods(await first.settled())).toEqual(['notifications/prompts/list_changed']);
    first.disconnect();
    await first.settled();
    expect(service.endpoint.standingStreams).toBe(0);
  });

  it('is ended when its client opens four more', async () => {
    const first = await service.listen(session);
    for (let more = 0; more < 3; more++) await service.listen(session);
    expect([service.limits.noted, first.hasEnded]).toEqual([[], false]);
    await service.listen(session);
    expect(service.limits.noted).toEqual(['standing_streams alice']);
    expect((await first.settled()).hasEnded).toBe(true);
    expect(service.endpoint.standingStreams).toBe(4);
  });

  it('that was closed for others takes none of them with it', async () => {
    const first = await service.listen(session);
    first.stopReading();
    const others = [];
    for (let more = 0; more < 4; more++) others.push(await service.listen(session));
    first.disconnect();
    await first.settled();
    expect(service.endpoint.standingStreams).toBe(4);
    view.change({ kind: 'tools' });
    expect((await others[3]?.settled())?.messages).toHaveLength(1);
  });

  it('resumes after the last event that its client has seen', async () => {
    const stream = await service.listen(session);
    view.change({ kind: 'tools' });
    const [seen] = (await stream.settled()).events;
    stream.disconnect();
    await stream.settled();
    view.change({ kind: 'prompts' });
    view.change({ kind: 'resources' });
    const again = await service.listen(session, seen?.id);
    expect(again.events.map(({ id }) => id)).toEqual(['1-2', '1-3']);
    view.change({ kind: 'tools' });
    expect((await again.settled()).events.map(({ id }) => id)).toEqual(['1-2', '1-3', '1-4']);
    expect(service.endpoint.standingStreams).toBe(1);
  });

  it.each(['', 'x', '1', '1-', '-1', 'a-1', '1-1x', 'x1-1', '9-1', '1-99', '1-1234567890123456'])(
    'begins again after an event that it does not have: %j',
    async (seen) => {
      const stream = await service.listen(session);
      view.change({ kind: 'tools' });
      stream.disconnect();
      await stream.settled();
      const again = await service.listen(session, seen);
      expect([again.status, again.events]).toEqual([200, []]);
      view.change({ kind: 'prompts' });
      expect((await again.settled()).events.map(({ id }) => id)).toEqual(['1-2']);
    },
  );

  it('ends with the session', async () => {
    const stream = await service.listen(session);
    await service.begin('DELETE', undefined, session).settled();
    expect((await stream.settled()).hasEnded).toBe(true);
    expect(view.listening).toBe(0);
    expect(view.forgotten).toHaveLength(1);
  });
});

describe('the roots of a client with a session', () => {
  it('are offered once the client declared them and listens', async () => {
    const session = await service.open({ roots: {} });
    expect(view.roots).toEqual([]);
    await service.listen(session);
    await service.listen(session);
    expect(view.rootsNews).toEqual(['offered']);
    expect(view.roots[0]?.caller).toEqual({ name: 'alice', subject: 'alice', ip: null });
    await service.post(notification('notifications/roots/list_changed'), session);
    expect(view.rootsNews).toEqual(['offered', 'changed']);
    await service.begin('DELETE', undefined, session).settled();
    expect(view.rootsNews).toEqual(['offered', 'changed', 'released']);
  });

  it.each([{}, { roots: true }])('are not offered by a client with %j', async (capabilities) => {
    const session = await service.open(capabilities);
    await service.listen(session);
    await service.post(notification('notifications/roots/list_changed'), session);
    expect(view.rootsNews).toEqual([]);
  });

  it('are not offered while the client does not listen', async () => {
    const session = await service.open({ roots: {} });
    await service.post(notification('notifications/roots/list_changed'), session);
    expect(view.rootsNews).toEqual([]);
  });

  it('count as changed when the client listens again', async () => {
    const session = await service.open({ roots: {} });
    const stream = await service.listen(session);
    stream.disconnect();
    await stream.settled();
    await service.listen(session);
    // The offer lasts as long as the session.
    expect(view.rootsNews).toEqual(['offered', 'changed']);
  });

  it('are not offered to a view that has no use for them', async () => {
    const session = await service.open({ roots: {} });
    Object.assign(view, { offerRoots: undefined });
    expect((await service.listen(session)).status).toBe(200);
  });

  it('are asked for on the standing stream', async () => {
    const session = await service.open({ roots: {} });
    const stream = await service.listen(session);
    const roots = view.roots[0]?.roots();
    const [question] = (await stream.settled()).messages;
    expect(question).toEqual({ jsonrpc: '2.0', id: 1, method: 'roots/list', params: {} });
    await answerTo(question, session, { result: { roots: [] } });
    expect(await roots).toEqual({ roots: [] });
  });

  it('are not asked for when the client has stopped listening', async () => {
    const session = await service.open({ roots: {} });
    const stream = await service.listen(session);
    stream.disconnect();
    await stream.settled();
    await expect(view.roots[0]?.roots()).rejects.toThrow('the client does not listen');
  });

  it('are not waited for after the session has ended', async () => {
    const session = await service.open({ roots: {} });
    await service.listen(session);
    const roots = view.roots[0]?.roots();
    const failed = expect(roots).rejects.toThrow('the session has ended');
    await service.begin('DELETE', undefined, session).settled();
    await failed;
  });
});

describe('the end of a session', () => {
  const deleted = (session: Session) => service.begin('DELETE', undefined, session).settled();

  it('ends its calls with an error, each once', async () => {
    const session = await service.open();
    view.handling = hang;
    const call = await service.post(rpc('tools/call', {}, 3), session);
    const list = await service.post(rpc('tools/list', {}, 4), session);
    await deleted(session);
    expect((await call.settled()).json).toEqual({
      jsonrpc: '2.0',
      id: 3,
      error: {
        code: rpcCode.serverError,
        message:
          'The session has ended before tools/call was answered. The call may have been carried out: do not repeat it blindly.',
        data: { error_code: 'SESSION_NOT_FOUND', outcome: 'unknown' },
      },
    });
    expect((await list.settled()).json).toMatchObject({
      error: { message: 'The session has ended before tools/list was answered. Send it again.' },
    });
    expect(aborted).toHaveLength(2);
    expect(service.endpoint.runningCalls).toBe(0);
  });

  it('refuses the requests of a batch that were not started', async () => {
    const session = await service.open();
    let remove: () => void = () => undefined;
    view.handling = async () => {
      remove();
      return {};
    };
    remove = () => void service.begin('DELETE', undefined, session);
    const answer = await service.post(
      [rpc('tools/list', {}, 1), rpc('tools/call', {}, 2)],
      session,
    );
    expect(answer.messages.at(-1)).toEqual({
      jsonrpc: '2.0',
      id: 2,
      error: {
        code: rpcCode.serverError,
        message: 'The session has ended; tools/call was not executed. Send it again.',
        data: { error_code: 'SESSION_NOT_FOUND', outcome: 'not executed' },
      },
    });
    expect(view.calls).toHaveLength(1);
    expect(answer.hasEnded).toBe(true);
  });

  it('frees what was kept for it', async () => {
    const session = await service.open();
    const stream = await service.listen(session);
    await service.post(rpc('resources/subscribe', { uri: 'a:' }), session);
    view.change({ kind: 'tools' });
    await stream.settled();
    expect(service.unsent.total).toBeGreaterThan(0);
    await deleted(session);
    expect(view.subscribed).toEqual([]);
    expect(service.unsent.total).toBe(0);
  });

  it('lets no late message of a call out', async () => {
    const session = await service.open();
    view.handling = hang;
    const call = await service.post(rpc('tools/call'), session);
    await deleted(session);
    view.calls[0]?.call.notify('notifications/progress', {});
    expect((await call.settled()).text).not.toContain('notifications/progress');
  });

  it('lets no message of a call out after its answer', async () => {
    const session = await service.open();
    view.handling = async (_method, _params, call) => {
      call.notify('notifications/progress', {});
      return {};
    };
    const call = await service.post(rpc('tools/call'), session);
    view.calls[0]?.call.notify('notifications/progress', {});
    await call.settled();
    const events = (await service.listen(session, '1-0')).messages;
    expect(events.map(({ method, result }) => method ?? result)).toEqual([
      'notifications/progress',
      {},
    ]);
  });
});
