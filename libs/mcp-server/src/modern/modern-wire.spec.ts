import { rpcCode, RpcError, SERVER_INFO_META_KEY } from '@app/mcp-protocol';
import { type JsonObject, RawJsonObject } from '@app/platform';
import { setImmediate as turn } from 'node:timers/promises';
import { FakeEndpoint, rpc } from '../fake-endpoint.js';
import type { FakeExchange } from '../fake-exchange.js';
import { FakeView } from '../fake-view.js';
import { ModernWire } from './modern-wire.js';

const self = '01234567-89ab-4cde-8f01-23456789abcd';

let view: FakeView;
let service: FakeEndpoint;
beforeEach(async () => {
  view = new FakeView();
  service = new FakeEndpoint(view);
  await service.load();
});
afterEach(() => service.close());

const named = { [SERVER_INFO_META_KEY]: { name: 'fake', version: '1' } };
const invalidState = {
  code: rpcCode.invalidParams,
  message: 'Invalid or expired requestState',
  data: { reason: 'invalid_request_state' },
};

function call(
  params: Record<string, unknown> = {},
  options: Parameters<FakeEndpoint['beginModern']>[2] = {},
): Promise<FakeExchange> {
  return service.beginModern('tools/call', { name: 'echo', ...params }, options).settled();
}

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

describe(ModernWire.name, () => {
  it('passes a request on without its envelope, and its result back in the format of the revision', async () => {
    view.handling = async () => ({ content: [] });
    const answer = await call({ arguments: { a: 1 } }, { id: 'x', capabilities: { sampling: {} } });
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      jsonrpc: '2.0',
      id: 'x',
      result: { resultType: 'complete', content: [], _meta: named },
    });
    expect(view.calls).toMatchObject([
      {
        method: 'tools/call',
        call: {
          input: {},
          client: {
            era: 'modern',
            caller: { name: 'alice', subject: 'alice', ip: null },
            capabilities: { sampling: {} },
            logLevel: undefined,
          },
        },
      },
    ]);
    expect(JSON.stringify(view.calls[0]?.params)).toBe('{"name":"echo","arguments":{"a":1}}');
    expect(service.endpoint.runningCalls).toBe(0);
  });

  it('passes results and errors of a verbatim view as they are', async () => {
    view.isVerbatim = true;
    view.handling = async () => ({ content: [] });
    expect((await call()).json['result']).toEqual({ content: [] });
    view.handling = () => Promise.reject(new RpcError(rpcCode.resourceNotFound, 'gone'));
    expect((await call()).json['error']).toEqual({
      code: rpcCode.resourceNotFound,
      message: 'gone',
    });
  });

  it('answers with the error of the view, in the codes of the revision', async () => {
    view.handling = () => Promise.reject(new RpcError(rpcCode.resourceNotFound, 'gone', { a: 1 }));
    const answer = await call();
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: { code: rpcCode.invalidParams, message: 'gone', data: { a: 1 } },
    });
  });

  it('tells what the view offers, without tasks', async () => {
    view.description = {
      capabilities: { tools: {}, tasks: {} },
      instructions: 'Be kind',
      meta: { a: 1 },
    };
    const answer = await service.beginModern('server/discover').settled();
    expect(answer.json).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: {
        resultType: 'complete',
        ttlMs: 0,
        cacheScope: 'private',
        supportedVersions: ['2026-07-28'],
        capabilities: { tools: {} },
        instructions: 'Be kind',
        _meta: { ...named, a: 1 },
      },
    });
    view.description = { capabilities: {} };
    const { result } = (await service.beginModern('server/discover').settled()).json;
    expect(result).not.toHaveProperty('instructions');
    expect(result).toMatchObject({ _meta: named });
  });

  it('says when the view cannot be used', async () => {
    view.isReady = Promise.reject(new RpcError(rpcCode.serverError, 'not today'));
    for (const method of ['server/discover', 'subscriptions/listen']) {
      const answer = await service.beginModern(method, { notifications: {} }).settled();
      expect([answer.status, answer.json['error']]).toEqual([
        200,
        { code: rpcCode.serverError, message: 'not today' },
      ]);
    }
  });

  it('has no methods of other revisions', async () => {
    const answer = await service.beginModern('logging/setLevel', { level: 'info' }).settled();
    expect([answer.status, answer.json]).toEqual([
      404,
      {
        jsonrpc: '2.0',
        id: 1,
        error: { code: rpcCode.methodNotFound, message: 'Method not found' },
      },
    ]);
    expect(view.calls).toEqual([]);
  });

  it('refuses headers that say something else than the body', async () => {
    const answer = await call({}, { id: 5, headers: { 'mcp-name': 'other' } });
    expect([answer.status, answer.json['id']]).toEqual([400, 5]);
    expect(answer.json).toMatchObject({ error: { code: rpcCode.headerMismatch } });
  });

  it('compares headers with the arguments of calls alone', async () => {
    view.schemas['echo'] = {
      type: 'object',
      properties: { n: { type: 'integer', 'x-mcp-header': 'Number' } },
    };
    expect((await call({ arguments: { n: 1 } })).status).toBe(400);
    const headers = { 'mcp-param-number': '1' };
    expect((await call({ arguments: { n: 1 } }, { headers })).status).toBe(200);
    expect((await call({ arguments: { n: 2 } }, { headers })).status).toBe(400);
    const prompt = service.beginModern('prompts/get', { name: 'echo', arguments: { n: 1 } });
    expect((await prompt.settled()).status).toBe(200);
  });

  it('refuses revisions that it does not have', async () => {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2027-01-01',
      'io.modelcontextprotocol/clientInfo': { name: 'someone', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const answer = await service.post(rpc('tools/list', { _meta: meta }), {
      'mcp-protocol-version': '2027-01-01',
      'mcp-method': 'tools/list',
    });
    expect([answer.status, answer.json]).toEqual([
      400,
      {
        jsonrpc: '2.0',
        id: 1,
        error: {
          code: rpcCode.unsupportedVersion,
          message: 'Unsupported protocol version: 2027-01-01',
          data: { supported: ['2026-07-28'], requested: '2027-01-01' },
        },
      },
    ]);
  });

  it('reports progress before the answer', async () => {
    view.handling = async (_method, _params, running) => {
      running.notify('notifications/progress', { progress: 1 });
      return { content: [] };
    };
    const answer = await call();
    expect(answer.messages).toMatchObject([
      { jsonrpc: '2.0', method: 'notifications/progress', params: { progress: 1 } },
      { id: 1, result: { content: [] } },
    ]);
    // Streams of this era are not resumed.
    expect(answer.events[0]?.id).toBeUndefined();
    expect(answer.hasEnded).toBe(true);
  });

  it('aborts the call of a client that disconnects', async () => {
    view.handling = hang;
    const answer = await call();
    expect(service.endpoint.runningCalls).toBe(1);
    answer.disconnect();
    await answer.settled();
    expect(aborted).toEqual(['the client went away']);
    expect(service.endpoint.runningCalls).toBe(0);
    expect(answer.text).not.toContain('aborted');
  });

  it('interrupts the calls of a service that stops, each once', async () => {
    view.handling = hang;
    const answer = await call();
    service.endpoint.interruptCalls();
    await answer.settled();
    expect(aborted).toEqual([
      'The service is stopping before tools/call was answered. The call may have been carried out: do not repeat it blindly.',
    ]);
    expect(answer.json).toMatchObject({
      id: 1,
      error: {
        code: rpcCode.serverError,
        data: { error_code: 'SERVICE_UNAVAILABLE', outcome: 'unknown' },
      },
    });
    expect(service.endpoint.runningCalls).toBe(0);
  });

  it('interrupts the calls of a token that was withdrawn, and no others', async () => {
    view.handling = hang;
    const [alice, bob] = [await call(), await call({}, { caller: 'bob' })];
    service.endpoint.endSessionsOf(['alice']);
    await alice.settled();
    expect(alice.json).toMatchObject({ error: { data: { error_code: 'UNAUTHORIZED' } } });
    expect([bob.hasEnded, service.endpoint.runningCalls]).toEqual([false, 1]);
  });

  it('starts no calls and streams while the service drains, but describes itself', async () => {
    service.drain.begin();
    for (const method of ['tools/list', 'subscriptions/listen']) {
      const answer = await service.beginModern(method, {}, { id: 8 }).settled();
      expect([answer.status, answer.json['id']]).toEqual([503, 8]);
    }
    expect((await service.beginModern('server/discover').settled()).status).toBe(200);
    expect(view.calls).toEqual([]);
  });
});

describe('a stateless client that is asked for input', () => {
  const capabilities = { elicitation: {}, roots: {} };
  const form = { message: 'Your name?', requestedSchema: {} };
  let outcomes: unknown[];
  beforeEach(() => {
    outcomes = [];
    view.handling = async (_method, _params, running) => {
      const asked = running.ask('elicitation/create', form);
      asked.catch((error: unknown) => outcomes.push(error));
      return { was: await asked };
    };
  });
  const stateOf = ({ json }: FakeExchange): unknown =>
    (json['result'] as JsonObject)['requestState'];
  const comeBack = (
    requestState: unknown,
    inputResponses: unknown = { q1: { action: 'decline' } },
    options: Parameters<FakeEndpoint['beginModern']>[2] = {},
  ): Promise<FakeExchange> =>
    call(
      { requestState, ...(inputResponses !== undefined && { inputResponses }) },
      { capabilities, ...options },
    );

  it('gets the questions and a state, and the result when it comes back with both', async () => {
    const first = await call({}, { id: 'a', capabilities });
    expect(first.json).toEqual({
      jsonrpc: '2.0',
      id: 'a',
      result: {
        resultType: 'input_required',
        inputRequests: { q1: { method: 'elicitation/create', params: form } },
        requestState: stateOf(first),
        _meta: named,
      },
    });
    expect(first.hasEnded).toBe(true);
    expect(service.endpoint.runningCalls).toBe(0);
    const second = await comeBack(stateOf(first), { q1: { action: 'decline' } }, { id: 'b' });
    expect(second.json).toEqual({
      jsonrpc: '2.0',
      id: 'b',
      result: { resultType: 'complete', was: { action: 'decline' }, _meta: named },
    });
    expect(view.calls).toHaveLength(1);
  });

  it('gets questions of one turn together, and the unanswered ones again', async () => {
    view.handling = async (_method, _params, running) => ({
      was: await Promise.all([
        running.ask('elicitation/create', form),
        running.ask('roots/list', {}),
      ]),
    });
    const first = await call({}, { capabilities });
    expect(Object.keys((first.json['result'] as JsonObject)['inputRequests'] ?? {})).toEqual([
      'q1',
      'q2',
    ]);
    const second = await comeBack(stateOf(first), { q2: { roots: [] }, q1: 'what' });
    expect(second.json['result']).toMatchObject({
      inputRequests: { q1: { method: 'elicitation/create', params: form } },
    });
    expect((second.json['result'] as JsonObject)['inputRequests']).not.toHaveProperty('q2');
    const third = await comeBack(stateOf(second), { q1: { action: 'decline' } });
    expect(third.json['result']).toMatchObject({ was: [{ action: 'decline' }, { roots: [] }] });
  });

  it.each([[null], ['none'], [{}]])('is asked again when it brings %j', async (input) => {
    const first = await call({}, { capabilities });
    const second = await comeBack(stateOf(first), input);
    expect(second.json['result']).toMatchObject({ resultType: 'input_required' });
  });

  it('cannot use a state twice', async () => {
    const state = stateOf(await call({}, { capabilities }));
    await comeBack(state);
    const again = await comeBack(state);
    expect([again.status, again.json['error']]).toEqual([200, invalidState]);
  });

  it.each([
    ['text', 'x'],
    ['a number', 7],
    ['nothing', null],
    ['an empty text', ''],
  ])('cannot invent a state that is %s', async (_what, state) => {
    const answer = await comeBack(state);
    expect([answer.status, answer.json['error']]).toEqual([200, invalidState]);
    expect(view.calls).toEqual([]);
  });

  it('cannot use a state as another caller, for another request, or on another view', async () => {
    const state = stateOf(await call({}, { capabilities }));
    const inputResponses = { q1: {} };
    for (const answer of [
      await comeBack(state, inputResponses, { caller: 'bob' }),
      await service
        .beginModern('tools/call', { name: 'other', requestState: state, inputResponses })
        .settled(),
      await service
        .beginModern('prompts/get', { name: 'echo', requestState: state, inputResponses })
        .settled(),
    ]) {
      expect(answer.json['error']).toEqual(invalidState);
    }
    expect((await comeBack(state)).json).toHaveProperty('result');
  });

  it('has ten minutes to come back', async () => {
    const [one, other] = [
      stateOf(await call({}, { capabilities })),
      stateOf(await call({}, { capabilities })),
    ];
    service.now += 599_999;
    expect((await comeBack(one)).json).toHaveProperty('result');
    service.now += 1;
    expect((await comeBack(other)).json['error']).toEqual(invalidState);
  });

  it('may come back while the service drains', async () => {
    const state = stateOf(await call({}, { capabilities }));
    service.drain.begin();
    expect((await comeBack(state)).json['result']).toMatchObject({ was: { action: 'decline' } });
  });

  it('is not asked for what it did not declare', async () => {
    const answer = await call();
    expect(answer.json['error']).toMatchObject({
      code: rpcCode.methodNotFound,
      message: 'The client does not support elicitation',
    });
  });

  it('gets the result that the call had meanwhile', async () => {
    let end: () => void = () => undefined;
    view.handling = async (_method, _params, running) => {
      running.ask('elicitation/create', form).catch((error: unknown) => outcomes.push(error));
      await new Promise<void>((resolve) => (end = resolve));
      return { was: 'done' };
    };
    const state = stateOf(await call({}, { capabilities }));
    end();
    await turn();
    const answer = await comeBack(state, {}, { id: 'late' });
    expect(answer.json).toMatchObject({ id: 'late', result: { was: 'done' } });
    expect(outcomes).toEqual([new Error('the call has ended')]);
    expect(service.endpoint.runningCalls).toBe(0);
  });

  it('is not asked a question that was taken back', async () => {
    const controller = new AbortController();
    view.handling = async (_method, _params, running) => {
      const asked = running.ask('elicitation/create', form, controller.signal);
      controller.abort();
      return { was: await asked.catch(String) };
    };
    expect((await call({}, { capabilities })).json['result']).toMatchObject({
      was: 'Error: the question was taken back',
    });
    view.handling = async (_method, _params, running) => ({
      was: await running
        .ask('elicitation/create', form, controller.signal)
        .catch(() => 'not asked'),
    });
    expect((await call({}, { capabilities })).json['result']).toMatchObject({ was: 'not asked' });
  });

  it('loses the call when the service stops', async () => {
    const state = stateOf(await call({}, { capabilities }));
    service.endpoint.close();
    await turn();
    expect(outcomes).toEqual([new Error('the service is stopping')]);
    expect((await comeBack(state)).json['error']).toEqual(invalidState);
  });

  it('loses the call when its token is withdrawn, others keep theirs', async () => {
    const alice = stateOf(await call({}, { capabilities }));
    const bob = stateOf(await call({}, { capabilities, caller: 'bob' }));
    service.endpoint.endSessionsOf(['alice']);
    await turn();
    expect(outcomes).toEqual([new Error('The token was withdrawn')]);
    expect((await comeBack(alice)).json['error']).toEqual(invalidState);
    expect((await comeBack(bob, { q1: {} }, { caller: 'bob' })).json).toHaveProperty('result');
  });

  it('gets no notifications while it prepares its input', async () => {
    const state = stateOf(await call({}, { capabilities }));
    view.calls[0]?.call.notify('notifications/progress', {});
    expect((await comeBack(state)).json['result']).toMatchObject({ was: { action: 'decline' } });
  });

  it('may disconnect before it has read the questions', async () => {
    const first = service.beginModern('tools/call', { name: 'echo' }, { capabilities });
    first.stopReading();
    await first.settled();
    first.disconnect();
    await first.settled();
    expect([outcomes, view.calls[0]?.call.signal.aborted]).toEqual([[], false]);
  });

  it('loses the call when it disconnects after it came back', async () => {
    view.handling = async (method, params, running) => {
      await running.ask('elicitation/create', form);
      return hang(method, params, running);
    };
    const back = await comeBack(stateOf(await call({}, { capabilities })));
    expect(service.endpoint.runningCalls).toBe(1);
    back.disconnect();
    await back.settled();
    expect(aborted).toEqual(['the client went away']);
  });

  it('gets a state that names the replica at which the call waits', async () => {
    const key = Buffer.alloc(32, 1);
    service.close();
    service = new FakeEndpoint(view, { cluster: { self, hasOthers: true, stateKeys: [key] } });
    const state = stateOf(await call({}, { capabilities }));
    expect(state).toMatch(new RegExp(`\\.${self}$`));
    expect((await comeBack(state)).json['result']).toMatchObject({ was: { action: 'decline' } });
  });
});

describe('a server of the stateless era that asks for input', () => {
  const asking = { resultType: 'input_required', inputRequests: {}, requestState: 'of the server' };

  it.each(['parsed', 'forwarded'])('keeps its state with the client, sealed; %s', async (how) => {
    view.handling = async () => (how === 'parsed' ? { ...asking } : RawJsonObject.of(asking));
    const result = (await call()).json['result'] as JsonObject;
    expect(result).toMatchObject({ resultType: 'input_required', inputRequests: {} });
    expect(JSON.stringify(result)).not.toContain('of the server');
    view.handling = async (_method, _params, { input }) => ({ input });
    const inputResponses = { q: { a: 1 } };
    const back = await call({ requestState: result['requestState'], inputResponses });
    expect(back.json['result']).toMatchObject({
      input: { requestState: 'of the server', inputResponses },
    });
    // Neither is a parameter of the request.
    expect(Object.keys(JSON.parse(JSON.stringify(view.calls[1]?.params)) as object)).toEqual([
      'name',
    ]);
  });

  it('may have no state', async () => {
    view.handling = async (_method, _params, { input }) => ({ input });
    const back = await call({ inputResponses: { q: { a: 1 } } });
    expect((back.json['result'] as JsonObject)['input']).toEqual({
      inputResponses: { q: { a: 1 } },
    });
    view.handling = async () => ({ requestState: 7 });
    expect((await call()).json['result']).toMatchObject({ requestState: 7 });
  });

  it('is asked at any replica', async () => {
    const key = Buffer.alloc(32, 1);
    const cluster = { self, hasOthers: true, stateKeys: [key] as [Buffer] };
    service.close();
    service = new FakeEndpoint(view, { cluster });
    view.handling = async () => asking;
    const { requestState } = (await call()).json['result'] as JsonObject;
    service.close();
    service = new FakeEndpoint(view, { cluster: { ...cluster, self: self.replace('0', '9') } });
    view.handling = async (_method, _params, { input }) => ({ input });
    const back = await call({ requestState });
    expect((back.json['result'] as JsonObject)['input']).toEqual({ requestState: 'of the server' });
  });
});

describe('an input that a client brings without a state', () => {
  it('that is no object is ignored', async () => {
    view.handling = async (_method, _params, { input }) => ({ input });
    const answer = await call({ inputResponses: 'text' });
    expect((answer.json['result'] as JsonObject)['input']).toEqual({});
  });
});
