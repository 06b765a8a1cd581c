import { rpcCode, RpcError } from '@app/mcp-protocol';
import { FakeEndpoint, notification, rpc } from '../fake-endpoint.js';
import { FakeView } from '../fake-view.js';
import { LegacyWire } from './legacy-wire.js';

let view: FakeView;
let service: FakeEndpoint;
beforeEach(() => {
  view = new FakeView();
  service = new FakeEndpoint(view);
});
afterEach(() => service.close());

/** Never answers, until its call is aborted. */
const hang: FakeView['handling'] = (_method, _params, { signal }) =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
  });

describe('a handshake', () => {
  const initialize = (params: object) => rpc('initialize', params, 'first');

  it('says what the view offers, and names the session', async () => {
    view.description = { capabilities: { tools: {} }, instructions: 'Be kind', meta: { a: 1 } };
    const answer = await service.post(initialize({ protocolVersion: '2025-06-18' }));
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      jsonrpc: '2.0',
      id: 'first',
      result: {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: view.serverInfo,
        instructions: 'Be kind',
        _meta: { a: 1 },
      },
    });
    expect(answer.headers['mcp-session-id']).toMatch(/^[\da-f-]{36}$/);
    expect(service.endpoint.sessionCount).toBe(1);
  });

  it('leaves out instructions and metadata that the view does not have', async () => {
    const { result } = (await service.post(initialize({}))).json;
    expect(Object.keys(result as object).sort()).toEqual([
      'capabilities',
      'protocolVersion',
      'serverInfo',
    ]);
  });

  it.each([
    ['2024-11-05', '2024-11-05'],
    ['2023-01-01', '2025-11-25'],
    [7, '2025-11-25'],
    [undefined, '2025-11-25'],
  ])('for revision %j is one of %s', async (protocolVersion, chosen) => {
    const answer = await service.post(initialize({ protocolVersion }));
    expect(answer.json).toMatchObject({ result: { protocolVersion: chosen } });
  });

  it('fails when the view cannot be used, and opens no session', async () => {
    view.isReady = Promise.reject(new RpcError(rpcCode.serverError, 'not today'));
    const answer = await service.post(initialize({}));
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      jsonrpc: '2.0',
      id: 'first',
      error: { code: rpcCode.serverError, message: 'not today' },
    });
    expect(service.endpoint.sessionCount).toBe(0);
  });

  it('may leave out capabilities', async () => {
    view.handling = (_method, _params, { client }) => Promise.resolve({ was: client.capabilities });
    for (const capabilities of [undefined, 'none', null]) {
      const session = await service.open(capabilities as never);
      const answer = await service.post(rpc('tools/call'), session);
      expect(answer.json).toMatchObject({ result: { was: {} } });
    }
  });

  it('among replicas names the one that keeps the session', async () => {
    const self = '01234567-89ab-4cde-8f01-23456789abcd';
    const cluster = { self, hasOthers: true, stateKeys: [Buffer.alloc(32)] as [Buffer] };
    const replica = new FakeEndpoint(view, { cluster });
    const { 'mcp-session-id': id } = await replica.open();
    expect(id).toMatch(new RegExp(`^[\\da-f-]{36}\\.${self}$`));
    replica.close();
  });
});

describe(LegacyWire.name, () => {
  it('accepts the revisions with sessions alone', async () => {
    const session = await service.open();
    const accepted = await service.post(rpc('ping'), {
      ...session,
      'mcp-protocol-version': '2025-03-26',
    });
    expect(accepted.json).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
    const refused = await service.post(rpc('ping'), {
      ...session,
      'mcp-protocol-version': '2020-01-01',
    });
    expect(refused.status).toBe(400);
    expect(refused.json).toEqual({
      jsonrpc: '2.0',
      id: null,
      error: { code: rpcCode.serverError, message: 'Unsupported protocol version: 2020-01-01' },
    });
  });

  it.each(['POST', 'GET', 'DELETE'])('refuses %s without a session', async (method) => {
    const answer = await service.begin(method, rpc('ping')).settled();
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({
      error: {
        code: rpcCode.serverError,
        message: 'Bad Request: Mcp-Session-Id header is required',
      },
    });
  });

  it('ends a session that its client deletes, once', async () => {
    const session = await service.open();
    const gone = await service.begin('DELETE', undefined, session).settled();
    expect([gone.status, gone.text, gone.hasEnded]).toEqual([200, '', true]);
    expect(service.endpoint.sessionCount).toBe(0);
    expect((await service.begin('DELETE', undefined, session).settled()).status).toBe(404);
  });

  it('accepts notifications and answers without one of its own', async () => {
    const session = await service.open();
    for (const body of [
      notification('notifications/initialized'),
      { jsonrpc: '2.0', id: 1, result: {} },
      [notification('notifications/initialized'), notification('notifications/other')],
    ]) {
      const answer = await service.post(body, session);
      expect([answer.status, answer.text, answer.hasEnded]).toEqual([202, '', true]);
    }
    expect(view.calls).toEqual([]);
  });

  it('answers the requests of a batch on one stream that then ends', async () => {
    const session = await service.open();
    view.handling = async (method) => ({ was: method });
    const answer = await service.post(
      [rpc('tools/list', {}, 1), notification('notifications/x'), rpc('prompts/list', {}, 'b')],
      session,
    );
    expect(answer.headers['content-type']).toBe('text/event-stream');
    expect(answer.messages).toEqual([
      { jsonrpc: '2.0', id: 1, result: { was: 'tools/list' } },
      { jsonrpc: '2.0', id: 'b', result: { was: 'prompts/list' } },
    ]);
    expect(answer.hasEnded).toBe(true);
  });

  it('answers a batch of one request without a stream', async () => {
    const session = await service.open();
    const answer = await service.post([rpc('ping')], session);
    expect(answer.headers['content-type']).toBe('application/json');
    expect(answer.json).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
  });

  it('ends a batch whose last request its client cancels', async () => {
    const session = await service.open();
    view.handling = hang;
    const answer = await service.post([rpc('ping', {}, 1), rpc('tools/call', {}, 2)], session);
    await service.post(notification('notifications/cancelled', { requestId: 2 }), session);
    expect((await answer.settled()).messages).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }]);
    expect(answer.hasEnded).toBe(true);
  });

  it('ends the answer of a request that its client cancels, and of no other', async () => {
    const session = await service.open();
    view.handling = hang;
    const [one, other] = [
      await service.post(rpc('tools/call', {}, 1), session),
      await service.post(rpc('tools/call', {}, '1'), session),
    ];
    for (const body of [
      notification('notifications/cancelled', {}),
      notification('notifications/other', { requestId: 1 }),
      { jsonrpc: '2.0', method: 'notifications/cancelled' },
    ]) {
      await service.post(body, session);
    }
    expect(service.endpoint.runningCalls).toBe(2);
    await service.post(notification('notifications/cancelled', { requestId: 1 }), session);
    expect([(await one.settled()).hasEnded, one.status, one.text]).toEqual([true, 200, '']);
    expect(other.hasEnded).toBe(false);
    expect(service.endpoint.runningCalls).toBe(1);
  });

  it('answers on its stream a call that reported progress', async () => {
    const session = await service.open();
    view.handling = async (_method, _params, call) => {
      call.notify('notifications/progress', { progress: 1 });
      return { content: [] };
    };
    const answer = await service.post(rpc('tools/call', {}, 5), session);
    expect(answer.events).toEqual([
      {
        id: '1-1',
        message: { jsonrpc: '2.0', method: 'notifications/progress', params: { progress: 1 } },
      },
      { id: '1-2', message: { jsonrpc: '2.0', id: 5, result: { content: [] } } },
    ]);
    expect(answer.hasEnded).toBe(true);
  });

  it('keeps a session that is used or has a stream, however long', async () => {
    const session = await service.open();
    const stream = await service.listen(session);
    service.now += 60_001;
    expect((await service.post(rpc('ping'), session)).status).toBe(200);
    service.now += 60_001;
    stream.disconnect();
    await stream.settled();
    // The time starts when the stream is gone.
    service.now += 59_999;
    expect((await service.post(rpc('ping'), session)).status).toBe(200);
    service.now += 60_000;
    expect((await service.post(rpc('ping'), session)).status).toBe(404);
  });

  it('counts the time since the answer, not since the request', async () => {
    const session = await service.open();
    let answer: () => void = () => undefined;
    view.handling = () => new Promise((resolve) => (answer = () => resolve({})));
    const call = service.begin('POST', rpc('tools/call'), session);
    service.now += 100_000;
    answer();
    await call.settled();
    service.now += 59_999;
    expect((await service.post(rpc('ping'), session)).status).toBe(200);
  });

  describe('while the service drains', () => {
    const stopping = {
      code: rpcCode.serverError,
      message: 'The service is stopping; the request was not executed. Send it again.',
      data: { error_code: 'SERVICE_UNAVAILABLE', outcome: 'not executed' },
    };

    it('refuses requests, and takes answers and notifications', async () => {
      const session = await service.open();
      service.drain.begin();
      const refused = await service.post(rpc('ping', {}, 'x'), session);
      expect(refused.status).toBe(503);
      expect(refused.json).toEqual({ jsonrpc: '2.0', id: 'x', error: stopping });
      expect(refused.headers).toMatchObject({ connection: 'close' });
      expect(refused.headers['retry-after']).toMatch(/^\d+$/);
      const accepted = await service.post(notification('notifications/x'), session);
      expect(accepted.status).toBe(202);
    });

    it('refuses a batch with a request in it', async () => {
      const session = await service.open();
      service.drain.begin();
      const refused = await service.post([notification('notifications/x'), rpc('ping')], session);
      expect(refused.status).toBe(503);
      expect(refused.json).toEqual({ jsonrpc: '2.0', id: null, error: stopping });
    });

    it('opens no streams, but resumes them', async () => {
      const session = await service.open();
      const stream = await service.listen(session);
      view.change({ kind: 'tools' });
      const seen = (await stream.settled()).events[0]?.id;
      stream.disconnect();
      service.drain.begin();
      expect((await service.listen(session)).status).toBe(503);
      expect((await service.listen(session, seen)).status).toBe(200);
    });

    it('sends clients to another replica, where they begin a new session', async () => {
      for (const [hasOthers, status] of [
        [true, 404],
        [false, 503],
      ] as const) {
        const self = '01234567-89ab-4cde-8f01-23456789abcd';
        const cluster = { self, hasOthers, stateKeys: [Buffer.alloc(32)] as [Buffer] };
        const replica = new FakeEndpoint(view, { cluster });
        const session = await replica.open();
        replica.drain.begin();
        expect((await replica.post(rpc('ping'), session)).status).toBe(status);
        expect((await replica.post([notification('a'), rpc('ping')], session)).status).toBe(status);
        expect((await replica.post(rpc('initialize'))).status).toBe(503);
        replica.close();
      }
    });
  });
});
