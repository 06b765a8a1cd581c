import { rpcCode, SERVER_INFO_META_KEY, SUBSCRIPTION_ID_META_KEY } from '@app/mcp-protocol';
import { FakeEndpoint, NotedLimits } from '../fake-endpoint.js';
import { FakeExchange } from '../fake-exchange.js';
import { FakeView } from '../fake-view.js';
import { ClientResponse } from '../endpoint/client-response.js';
import { Audiences } from '../stream/audiences.js';
import { KeepAlive } from '../stream/keep-alive.js';
import { KeptEvents } from '../stream/stream-log.js';
import { SubscriptionBudget } from '../stream/subscriptions.js';
import { ListenStreams } from './listen-streams.js';

let view: FakeView;
let service: FakeEndpoint;
beforeEach(async () => {
  view = new FakeView();
  service = new FakeEndpoint(view);
  await service.load();
});
afterEach(() => service.close());

const listen = (
  notifications: unknown,
  options: Parameters<FakeEndpoint['beginModern']>[2] = { id: 'sub' },
): FakeExchange => service.beginModern('subscriptions/listen', { notifications }, options);

const message = (method: string, params: object) => ({
  jsonrpc: '2.0',
  method: `notifications/${method}`,
  params: { ...params, _meta: { [SUBSCRIPTION_ID_META_KEY]: 'sub' } },
});

describe(ListenStreams.name, () => {
  it('acknowledge what they have, and tell of it', async () => {
    const stream = await listen({
      toolsListChanged: true,
      resourceSubscriptions: ['a:', 'no:such'],
    }).settled();
    expect(service.endpoint.standingStreams).toBe(1);
    for (const kind of ['prompts', 'tools'] as const) view.change({ kind });
    view.updated('a:');
    view.updated('b:');
    expect((await stream.settled()).messages).toEqual([
      message('subscriptions/acknowledged', {
        notifications: { toolsListChanged: true, resourceSubscriptions: ['a:'] },
      }),
      message('tools/list_changed', {}),
      message('resources/updated', { uri: 'a:' }),
    ]);
    expect(stream.hasEnded).toBe(false);
  });

  it('have the number of their request', async () => {
    const stream = await listen({}, { id: 7 }).settled();
    expect(stream.messages).toEqual([
      {
        jsonrpc: '2.0',
        method: 'notifications/subscriptions/acknowledged',
        params: { notifications: {}, _meta: { [SUBSCRIPTION_ID_META_KEY]: 7 } },
      },
    ]);
  });

  it.each([undefined, 'all', null])('need an object of notifications, not %j', async (wanted) => {
    const answer = await listen(wanted).settled();
    expect(answer.json).toEqual({
      jsonrpc: '2.0',
      id: 'sub',
      error: { code: rpcCode.invalidParams, message: 'notifications must be an object' },
    });
    expect(service.endpoint.standingStreams).toBe(0);
    expect(view.listening).toBe(0);
  });

  it('tell of an update that came before the acknowledgement after it, once', async () => {
    let grant: () => void = () => undefined;
    const first = listen({ resourceSubscriptions: ['a:', 'b:'] });
    const granted = view.subscribe.bind(view);
    view.subscribe = async (uri, onUpdated) => {
      const release = await granted(uri, onUpdated);
      if (uri === 'b:') await new Promise<void>((resolve) => (grant = resolve));
      return release;
    };
    await first.settled();
    view.updated('a:');
    view.updated('a:');
    expect((await first.settled()).text).toBe('');
    grant();
    expect((await first.settled()).messages).toEqual([
      message('subscriptions/acknowledged', {
        notifications: { resourceSubscriptions: ['a:', 'b:'] },
      }),
      message('resources/updated', { uri: 'a:' }),
    ]);
  });

  it('release everything when their client is gone', async () => {
    const stream = await listen({ resourceSubscriptions: ['a:'] }).settled();
    expect([view.subscribed, view.listening]).toEqual([['a:'], 1]);
    stream.disconnect();
    await stream.settled();
    expect([view.subscribed, view.listening]).toEqual([[], 0]);
    expect(service.endpoint.standingStreams).toBe(0);
  });

  it('ask for no more when their client is gone', async () => {
    let grant: () => void = () => undefined;
    view.granting = new Promise((resolve) => (grant = resolve));
    const uris = Array.from({ length: 20 }, (_, i) => `a:${i}`);
    const stream = await listen({ resourceSubscriptions: uris }).settled();
    // A few at a time.
    expect(view.subscribed).toHaveLength(8);
    stream.disconnect();
    await stream.settled();
    grant();
    await stream.settled();
    expect([view.subscribed, view.listening]).toEqual([[], 0]);
  });

  it('ask for each resource once', async () => {
    await listen({ resourceSubscriptions: ['a:', 'a:'] }).settled();
    expect(view.subscribed).toEqual(['a:']);
  });

  it('have at most 1000 resources', async () => {
    const uris = Array.from({ length: 1_001 }, (_, i) => `a:${i}`);
    const refused = await listen({ resourceSubscriptions: uris }).settled();
    expect(refused.json).toMatchObject({
      error: {
        code: rpcCode.invalidParams,
        message: 'resourceSubscriptions has 1001 URIs; at most 1000 are allowed',
        data: { error_code: 'LIMIT_REACHED' },
      },
    });
    expect(view.subscribed).toEqual([]);
    await listen({ resourceSubscriptions: uris.slice(1) }).settled();
    expect(view.subscribed).toHaveLength(1_000);
  });

  it('fail when a resource reaches a limit, and release the others', async () => {
    const refused = await listen({ resourceSubscriptions: ['a:', 'x'.repeat(8_193)] }).settled();
    expect(refused.json).toMatchObject({
      error: { message: 'The uri is longer than 8192 characters' },
    });
    expect([view.subscribed, service.endpoint.standingStreams]).toEqual([[], 0]);
    expect(service.limits.noted).toEqual(['subscriptions alice']);
  });

  const ended = {
    jsonrpc: '2.0',
    id: 'sub',
    result: {
      resultType: 'complete',
      _meta: {
        [SUBSCRIPTION_ID_META_KEY]: 'sub',
        [SERVER_INFO_META_KEY]: { name: 'fake', version: '1' },
      },
    },
  };

  it('end with a result when the service stops', async () => {
    const stream = await listen({ resourceSubscriptions: ['a:'] }).settled();
    service.endpoint.close();
    expect((await stream.settled()).messages.at(-1)).toEqual(ended);
    expect(stream.hasEnded).toBe(true);
    expect([view.subscribed, service.endpoint.standingStreams]).toEqual([[], 0]);
  });

  it('end when the token of their client is withdrawn, and no others', async () => {
    const stream = await listen({}).settled();
    const other = await listen({}, { caller: 'bob', id: 2 }).settled();
    service.endpoint.endSessionsOf(['alice']);
    expect((await stream.settled()).messages.at(-1)).toEqual(ended);
    expect([other.hasEnded, service.endpoint.standingStreams]).toEqual([false, 1]);
  });
});

describe('streams beyond those that the service may have', () => {
  const request = {
    jsonrpc: '2.0',
    id: 1,
    method: 'subscriptions/listen',
    params: { notifications: {} },
  } as const;
  let streams: ListenStreams;
  let noted: NotedLimits;
  let open: (owner: string) => Promise<FakeExchange>;
  beforeEach(() => {
    const { unsent } = service;
    noted = new NotedLimits();
    const keepAlive = new KeepAlive();
    keepAlive.close();
    const deps = {
      unsent,
      keepAlive,
      kept: new KeptEvents({ monotonic: () => 0 }, unsent),
      audiences: new Audiences(unsent, noted),
      subscriptions: new SubscriptionBudget(noted),
      limits: noted,
      drain: service.drain,
      cluster: undefined,
      tracing: undefined,
      clients: { note: () => undefined },
    };
    streams = new ListenStreams(deps, 2);
    open = async (owner) => {
      const exchange = new FakeExchange();
      const response = new ClientResponse(exchange.response, [], owner, deps);
      const caller = { name: owner, subject: owner, ip: null };
      const client = { era: 'modern', caller, capabilities: {}, logLevel: undefined } as const;
      await streams.open(request, view, response, client);
      return exchange;
    };
  });

  it('are refused to a principal that has its share', async () => {
    await open('alice');
    await open('alice');
    await expect(open('alice')).rejects.toMatchObject({
      body: {
        code: rpcCode.internalError,
        message:
          'All 2 subscription streams of this service are in use; end others or try again later',
        data: { error_code: 'LIMIT_REACHED' },
      },
    });
    expect(noted.noted).toEqual(['listen_streams alice']);
    // Another one still gets its share.
    await open('bob');
    expect(streams.size).toBe(3);
  });

  it('are opened again when others have ended', async () => {
    const first = await open('alice');
    await open('alice');
    first.disconnect();
    await first.settled();
    await open('alice');
    streams.endWhere(({ name }) => name === 'alice');
    await open('alice');
    await open('alice');
    await expect(open('alice')).rejects.toThrow('All 2');
  });

  it('are opened again when others have failed', async () => {
    view.isReady = Promise.reject(new Error('not today'));
    for (const _ of [1, 2, 3]) await expect(open('alice')).rejects.toThrow('not today');
    expect([streams.size, noted.noted]).toEqual([0, []]);
  });
});
