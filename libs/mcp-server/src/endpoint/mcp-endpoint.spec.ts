import { rpcCode } from '@app/mcp-protocol';
import { jest } from '@jest/globals';
import { FakeEndpoint, notification, rpc } from '../fake-endpoint.js';
import { FakeView } from '../fake-view.js';
import { McpEndpoint } from './mcp-endpoint.js';

const revision = '2026-07-28';
const meta = {
  'io.modelcontextprotocol/protocolVersion': revision,
  'io.modelcontextprotocol/clientInfo': { name: 'someone', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

let view: FakeView;
let service: FakeEndpoint;
beforeEach(async () => {
  view = new FakeView();
  service = new FakeEndpoint(view);
  await service.load();
});
afterEach(() => service.close());

/** Never answers, until its call is aborted. */
const hang: FakeView['handling'] = (_method, _params, { signal }) =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
  });

describe(McpEndpoint.name, () => {
  it('has no other methods of HTTP', async () => {
    const answer = await service.begin('PUT', {}).settled();
    expect([answer.status, answer.json]).toEqual([
      405,
      {
        jsonrpc: '2.0',
        id: null,
        error: { code: rpcCode.serverError, message: 'Method not allowed' },
      },
    ]);
  });

  it('refuses a body that could not be parsed', async () => {
    const answer = await service.post(undefined);
    expect([answer.status, answer.json]).toEqual([
      400,
      { jsonrpc: '2.0', id: null, error: { code: rpcCode.parseError, message: 'Parse error' } },
    ]);
  });

  it('takes batches of a hundred messages', async () => {
    const session = await service.open();
    const batch = (size: number) => Array.from({ length: size }, () => notification('a'));
    expect((await service.post(batch(100), session)).status).toBe(202);
    expect(service.limits.noted).toEqual([]);
    const refused = await service.post(batch(101), session);
    expect([refused.status, refused.json]).toMatchObject([
      400,
      {
        error: {
          code: rpcCode.invalidRequest,
          message: 'A batch may have at most 100 messages; this one has 101',
        },
      },
    ]);
    expect(service.limits.noted).toEqual(['batch_messages alice']);
  });

  it.each<[string, unknown]>([
    ['a text', 'hello'],
    ['an empty batch', []],
    ['a batch with an invalid message', [notification('a'), 7]],
    ['another JSON-RPC', { ...rpc('ping'), jsonrpc: '1.0' }],
  ])('refuses %s', async (_what, body) => {
    const session = await service.open();
    const answer = await service.post(body, session);
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ jsonrpc: '2.0', error: { code: expect.any(Number) } });
    expect(view.calls).toEqual([]);
  });

  it('serves clients of both eras on one URL', async () => {
    const session = await service.open();
    expect((await service.post(rpc('tools/list', { a: 1 }), session)).status).toBe(200);
    expect((await service.beginModern('tools/list').settled()).status).toBe(200);
    expect(view.calls.map(({ call }) => call.client.era)).toEqual(['legacy', 'modern']);
  });

  it('takes requests with metadata of a session, also with its revision in the header', async () => {
    const session = await service.open();
    const headers = { ...session, 'mcp-protocol-version': '2025-06-18' };
    const answer = await service.post(rpc('tools/list', { _meta: { progressToken: 1 } }), headers);
    expect(answer.status).toBe(200);
    expect(view.calls[0]?.params).toEqual({ _meta: { progressToken: 1 } });
  });

  it.each<[string, object, Record<string, string>]>([
    [
      'without the revision in the header',
      rpc('tools/list', { _meta: meta }),
      { 'mcp-method': 'tools/list' },
    ],
    [
      'without the method in the header',
      rpc('tools/list', { _meta: meta }),
      { 'mcp-protocol-version': revision },
    ],
    [
      'with another method in the header',
      rpc('tools/list', { _meta: meta }),
      { 'mcp-protocol-version': revision, 'mcp-method': 'tools/call' },
    ],
    [
      'with another name in the header',
      rpc('tools/call', { name: 'a', _meta: meta }),
      { 'mcp-protocol-version': revision, 'mcp-method': 'tools/call', 'mcp-name': 'b' },
    ],
    [
      'without an envelope',
      rpc('tools/list'),
      { 'mcp-protocol-version': revision, 'mcp-method': 'tools/list' },
    ],
  ])('refuses a stateless request %s, with its id', async (_what, body, headers) => {
    // Also after it has seen the envelope.
    await service.beginModern('tools/list').settled();
    const answer = await service.post({ ...body, id: 'mine' }, headers);
    expect(answer.status).toBe(400);
    expect(answer.json['id']).toBe('mine');
    expect(view.calls).toHaveLength(1);
  });

  it('takes stateless requests of an envelope that it knows, and of another one', async () => {
    const capabilities = { sampling: {} };
    for (const options of [{}, {}, { capabilities }, { capabilities }]) {
      const answer = await service.beginModern('tools/call', { name: 'a' }, options).settled();
      expect(answer.status).toBe(200);
    }
    expect(view.calls.map(({ call }) => call.client.capabilities)).toEqual([
      {},
      {},
      capabilities,
      capabilities,
    ]);
  });

  it('accepts a stateless notification', async () => {
    const answer = await service.post(notification('notifications/x', { _meta: meta }), {
      'mcp-protocol-version': revision,
      'mcp-method': 'notifications/x',
    });
    expect([answer.status, answer.text]).toEqual([202, '']);
    expect(view.calls).toEqual([]);
  });

  it('counts calls and streams of both eras', async () => {
    view.handling = hang;
    const session = await service.open();
    const calls = [
      await service.post(rpc('tools/list'), session),
      await service.beginModern('tools/list').settled(),
    ];
    await service.listen(session);
    await service.beginModern('subscriptions/listen', { notifications: {} }).settled();
    expect([
      service.endpoint.sessionCount,
      service.endpoint.runningCalls,
      service.endpoint.standingStreams,
    ]).toEqual([1, 2, 2]);
    service.endpoint.interruptCalls();
    for (const call of calls) {
      expect((await call.settled()).json).toMatchObject({
        error: { data: { error_code: 'SERVICE_UNAVAILABLE' } },
      });
    }
    expect(service.endpoint.runningCalls).toBe(0);
  });

  it('ends the sessions of a token that was withdrawn, and no others', async () => {
    view.handling = hang;
    const [alice, bob] = [await service.open(), await service.open({}, 'bob')];
    const call = await service.post(rpc('tools/list'), alice);
    service.endpoint.endSessionsOf(['alice', 'carol']);
    expect((await call.settled()).json).toMatchObject({
      error: {
        message: 'The token was withdrawn before tools/list was answered. Send it again.',
        data: { error_code: 'UNAUTHORIZED' },
      },
    });
    expect(service.endpoint.sessionCount).toBe(1);
    expect((await service.post(rpc('ping'), bob, 'bob')).status).toBe(200);
  });

  it('ends everything when it is closed', async () => {
    view.handling = hang;
    const session = await service.open();
    const call = await service.post(rpc('tools/call'), session);
    const stream = await service.listen(session);
    service.endpoint.close();
    expect((await call.settled()).json).toMatchObject({
      error: { data: { error_code: 'SERVICE_UNAVAILABLE' } },
    });
    expect((await stream.settled()).hasEnded).toBe(true);
    expect([service.endpoint.sessionCount, view.listening]).toEqual([0, 0]);
    expect(view.forgotten).toHaveLength(1);
  });
});

describe('an endpoint that is left alone', () => {
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  });
  afterEach(() => jest.useRealTimers());

  it.each([
    [20_000, 10_000],
    [60_000, 30_000],
    [3_600_000, 60_000],
  ])('ends sessions idle for %s ms within %s ms', async (idleMs, every) => {
    const left = new FakeEndpoint(view, { idleMs });
    await left.open();
    left.now += idleMs - 1;
    jest.advanceTimersByTime(every);
    expect(left.endpoint.sessionCount).toBe(1);
    left.now += 1;
    jest.advanceTimersByTime(every - 1);
    expect(left.endpoint.sessionCount).toBe(1);
    jest.advanceTimersByTime(1);
    expect(left.endpoint.sessionCount).toBe(0);
    left.close();
  });

  it('lets go of events that are too old to be resumed', async () => {
    const left = new FakeEndpoint(view, { idleMs: 3_600_000 });
    const session = await left.open();
    await left.listen(session);
    view.change({ kind: 'tools' });
    await left.listen(session);
    expect(left.unsent.total).toBeGreaterThan(0);
    left.now += 300_000;
    jest.advanceTimersByTime(60_000);
    expect(left.unsent.total).toBe(0);
    left.close();
  });

  it('does nothing after it is closed', async () => {
    const left = new FakeEndpoint(view);
    left.close();
    const before = jest.getTimerCount();
    const again = new FakeEndpoint(view);
    again.close();
    expect(jest.getTimerCount()).toBe(before);
  });
});
