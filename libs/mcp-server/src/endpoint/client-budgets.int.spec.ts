import { setImmediate } from 'node:timers/promises';
import type { JsonObject } from '@app/platform';
import { NonReader } from '../../../../test/fixtures/non-reader.js';
import { eventually } from '../../../../test/support/eventually.js';
import {
  eventsOf,
  messagesOf,
  startEndpoint,
  type TestEndpoint,
} from '../../../../test/support/mcp-endpoint.js';
import type { ClientCall, McpClient, McpSurface, ServerChange } from '../surface.js';

const MB = 1_048_576;

class TestSurface implements McpSurface {
  readonly key = 'test';
  readonly serverInfo = { name: 'test', version: '1' };
  readonly asked: string[] = [];
  readonly held = new Set<string>();
  mostAtOnce = 0;
  /** Blocks calls until it resolves. */
  gate: Promise<void> = Promise.resolve();
  order: string[] = [];
  private asking = 0;
  private readonly listeners = new Set<(change: ServerChange) => void>();

  async ready(): Promise<void> {}

  describe() {
    return { capabilities: { tools: { listChanged: true }, resources: { subscribe: true } } };
  }

  async handle(method: string, params: JsonObject, call: ClientCall): Promise<JsonObject> {
    this.order.push(`${method} ${call.client.caller.name}`);
    if (method === 'logging/setLevel') return {};
    const size = params['name'];
    if (method === 'tools/call' && size === 'hang') {
      return new Promise((_, reject) =>
        call.signal.addEventListener('abort', () => reject(new Error('aborted'))),
      );
    }
    if (method === 'tools/call' && size === 'wait') await this.gate;
    if (method === 'tools/call' && size === 'ask') {
      return call.ask('elicitation/create', { message: 'Name?', requestedSchema: {} });
    }
    if (method === 'tools/call' && size === 'large') {
      return { content: [{ type: 'text', text: 'x'.repeat(9 * MB) }] };
    }
    if (method === 'tools/call' && size === 'reports') {
      for (let i = 0; i < 20; i++) {
        call.notify('notifications/message', { level: 'info', data: 'x'.repeat(MB) });
      }
    }
    return { content: [] };
  }

  inputSchemaOf(): undefined {
    return undefined;
  }

  async subscribe(uri: string): Promise<() => void> {
    this.asked.push(uri);
    this.mostAtOnce = Math.max(this.mostAtOnce, ++this.asking);
    await this.gate;
    await setImmediate();
    this.asking -= 1;
    this.held.add(uri);
    return () => this.held.delete(uri);
  }

  watch(listener: (change: ServerChange) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  forget(_client: McpClient): void {}

  change(change: ServerChange): void {
    for (const listener of this.listeners) listener(change);
  }

  get watchers(): number {
    return this.listeners.size;
  }
}

let view: TestSurface;
let service: TestEndpoint;
const readers: NonReader[] = [];

async function start(...limits: [Parameters<typeof startEndpoint>[1]?]): Promise<void> {
  view = new TestSurface();
  service = await startEndpoint(view, ...limits);
}

afterEach(async () => {
  for (const reader of readers.splice(0)) reader.close();
  await service.close();
});

function nonReader(caller = 'alice'): NonReader {
  const reader = new NonReader(service.url, { 'x-caller': caller });
  readers.push(reader);
  return reader;
}

const call = (name: string, id: number | string = 7) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: {} },
});
const setLevel = { jsonrpc: '2.0', id: 2, method: 'logging/setLevel', params: { level: 'debug' } };
const logOf = (data: string, user = 'alice'): ServerChange => ({
  kind: 'log',
  params: { level: 'info', data },
  user,
});

const version = '2026-07-28';
const modernHeaders = { 'mcp-protocol-version': version, 'mcp-method': 'tools/call' };
const envelope = {
  'io.modelcontextprotocol/protocolVersion': version,
  'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
};
const modernCall = (name: string) => ({
  ...call(name),
  params: { name, arguments: {}, _meta: envelope },
});
const listenTo = (uris: readonly string[], caller = 'alice') =>
  [
    {
      jsonrpc: '2.0',
      id: 9,
      method: 'subscriptions/listen',
      params: {
        notifications: { toolsListChanged: true, resourceSubscriptions: [...uris] },
        _meta: envelope,
      },
    },
    {
      'mcp-protocol-version': version,
      'mcp-method': 'subscriptions/listen',
      'x-caller': caller,
    },
  ] as const;

/** Opens a session with a standing stream for log messages. */
async function logReader(caller: string): Promise<Response> {
  const session = await service.handshake(caller);
  await (await service.post(setLevel, { 'mcp-session-id': session, 'x-caller': caller })).text();
  return service.listen(session, { 'x-caller': caller });
}
async function logNonReader(caller: string): Promise<NonReader> {
  const session = await service.handshake(caller);
  await (await service.post(setLevel, { 'mcp-session-id': session, 'x-caller': caller })).text();
  const reader = nonReader(caller);
  reader.listen(session);
  return reader;
}

describe('clients that do not read', () => {
  it('lose their streams before the service runs out of memory, while a client that reads misses nothing', async () => {
    await start({ total: 24 * MB, perConnection: 16 * MB });
    for (let i = 0; i < 20; i++) await logNonReader('alice');
    await eventually(() => expect(service.endpoint.standingStreams).toBe(20));
    const heard = messagesOf(await logReader('bob'));
    for (let i = 0; i < 49; i++) {
      view.change(logOf(String(i).padEnd(MB)));
      view.change(logOf(String(i).padEnd(MB), 'bob'));
      const { value } = await heard.next();
      expect(value).toMatchObject({ params: { data: String(i).padEnd(MB) } });
      expect(service.unsent.total).toBeLessThanOrEqual(25 * MB);
    }
    expect(service.cuts.length).toBeGreaterThan(0);
    expect(service.cuts.filter((cut) => cut.endsWith('bob'))).toEqual([]);
  });

  it('share the bytes of messages that wait for all of them, written once', async () => {
    await start();
    for (let i = 0; i < 10; i++) await logNonReader('alice');
    await eventually(() => expect(service.endpoint.standingStreams).toBe(10));
    let written = 0;
    const data = 'x'.repeat(MB);
    const counting: JsonObject = {
      level: 'info',
      get data() {
        written += 1;
        return data;
      },
    };
    for (let i = 0; i < 30; i++) {
      view.change({ kind: 'log', params: counting, user: 'alice' });
      await setImmediate();
    }
    expect(written).toBe(30);
    await eventually(() => expect(service.unsent.total).toBeGreaterThan(20 * MB));
    expect(service.unsent.total).toBeLessThan(31 * MB);
    expect(service.cuts).toEqual([]);
  });

  it('hold no more than the budget in answers that are one JSON body', async () => {
    await start({ total: 40 * MB });
    const session = await service.handshake();
    for (let i = 0; i < 12; i++) {
      nonReader().post(call('large'), { 'mcp-session-id': session });
    }
    await eventually(() => expect(service.cuts.length).toBeGreaterThanOrEqual(8));
    expect(service.unsent.total).toBeLessThanOrEqual(40 * MB);
    const answer = await service.post(call('large'), {
      'mcp-session-id': await service.handshake('bob'),
      'x-caller': 'bob',
    });
    expect((await answer.text()).length).toBeGreaterThan(9 * MB);
  });

  it('hold no more than the budget in answers of the stateless era', async () => {
    await start({ total: 40 * MB });
    for (let i = 0; i < 12; i++) {
      nonReader().post(modernCall('large'), { ...modernHeaders, 'mcp-name': 'large' });
    }
    await eventually(() => expect(service.cuts.length).toBeGreaterThanOrEqual(8));
    expect(service.unsent.total).toBeLessThanOrEqual(40 * MB);
  });

  it('are disconnected when they read nothing for too long', async () => {
    await start({ stallMs: 200 });
    await logNonReader('alice');
    await eventually(() => expect(service.endpoint.standingStreams).toBe(1));
    for (let i = 0; i < 20; i++) view.change(logOf('x'.repeat(MB)));
    await eventually(() => expect(service.cuts).toEqual(['write_stalled alice']));
    await eventually(() => expect(service.endpoint.standingStreams).toBe(0));
  });
});

describe('a stream that is resumed', () => {
  it('delivers more than the limit of unread bytes per connection, as fast as the client reads', async () => {
    await start({ total: 400 * MB, perConnection: 4 * MB });
    const session = await service.handshake();
    const lost = nonReader();
    lost.post(call('reports'), { 'mcp-session-id': session });
    await eventually(() => expect(service.cuts).toEqual(['connection_bytes alice']));
    const seen: unknown[] = [];
    for await (const { message } of eventsOf(
      await service.listen(session, { 'last-event-id': '1-0' }),
    )) {
      seen.push(message['id'] ?? message['method']);
      if (message['id'] === 7) break;
    }
    expect(seen).toEqual([...Array<string>(20).fill('notifications/message'), 7]);
  });

  it('is kept although another principal fills the replay buffer', async () => {
    await start({ total: 80 * MB, perConnection: 80 * MB });
    const bob = { 'mcp-session-id': await service.handshake('bob'), 'x-caller': 'bob' };
    await (await service.post([call('none', 1), call('none', 2)], bob)).text();
    const alice = { 'mcp-session-id': await service.handshake('alice') };
    for (let i = 0; i < 3; i++) await (await service.post(call('reports'), alice)).text();
    const again = await service.listen(bob['mcp-session-id'], { ...bob, 'last-event-id': '1-1' });
    const { value } = await messagesOf(again).next();
    expect(value).toMatchObject({ id: 2 });
  });
});

describe('sessions', () => {
  it('of one principal do not evict those of another', async () => {
    await start({ sessions: 4 });
    const bob = await service.handshake('bob');
    for (let i = 0; i < 12; i++) await service.handshake('alice');
    const ping = { jsonrpc: '2.0', id: 2, method: 'ping' };
    const answer = await service.post(ping, { 'mcp-session-id': bob, 'x-caller': 'bob' });
    expect(answer.status).toBe(200);
    expect(service.endpoint.sessionCount).toBe(4);
  });

  it('are evicted for a principal that has none', async () => {
    await start({ sessions: 4 });
    for (let i = 0; i < 4; i++) await service.handshake('alice');
    const bobs = [await service.handshake('bob'), await service.handshake('bob')];
    for (let i = 0; i < 4; i++) await service.handshake('alice');
    for (const session of bobs) {
      const headers = { 'mcp-session-id': session, 'x-caller': 'bob' };
      expect((await service.post(call('none'), headers)).status).toBe(200);
    }
  });

  it('keep at most four standing streams', async () => {
    await start();
    const session = await service.handshake();
    const first = await service.listen(session);
    for (let i = 0; i < 4; i++) await service.listen(session);
    expect(await first.text()).toBe('');
    await eventually(() => expect(service.endpoint.standingStreams).toBe(4));
  });

  it.each([
    [
      'is deleted',
      (session: string) =>
        fetch(service.url, { method: 'DELETE', headers: { 'mcp-session-id': session } }),
      'The session has ended',
    ],
    ['is evicted', () => service.handshake(), 'The session has ended'],
    ['ends with the service', async () => service.endpoint.close(), 'The service is stopping'],
  ])('answer running calls with an error when one %s', async (_, end, reason) => {
    await start({ sessions: 1 });
    const session = await service.handshake();
    const answers = [call('hang', 1), [call('hang', 2), call('hang', 'b')]].map((body) =>
      service.post(body, { 'mcp-session-id': session }),
    );
    await eventually(() => expect(service.endpoint.runningCalls).toBe(3));
    await end(session);
    const texts = await Promise.all(answers.map(async (answer) => (await answer).text()));
    for (const id of [1, 2, '"b"']) expect(texts.join()).toContain(`"id":${id},"error"`);
    expect(texts[0]).toContain(`${reason} before tools/call was answered`);
    expect(texts[0]).toContain('"outcome":"unknown"');
    await eventually(() => expect(service.endpoint.runningCalls).toBe(0));
  });
});

describe('an endpoint that drains', () => {
  it('starts no new calls, and lets running ones finish', async () => {
    await start();
    const session = { 'mcp-session-id': await service.handshake() };
    let open: () => void = () => undefined;
    view.gate = new Promise((resolve) => (open = resolve));
    const running = service.post(call('wait'), session);
    const modern = service.post(modernCall('wait'), { ...modernHeaders, 'mcp-name': 'wait' });
    await eventually(() => expect(service.endpoint.runningCalls).toBe(2));
    service.drain.begin();
    const [listenBody, listenHeaders] = listenTo([]);
    const refused = await Promise.all([
      service.post(call('none'), session),
      service.post([call('none')], session),
      service.post(modernCall('none'), { ...modernHeaders, 'mcp-name': 'none' }),
      service.post(listenBody, listenHeaders),
      service.listen(session['mcp-session-id']),
    ]);
    for (const answer of refused) {
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
      expect(await answer.json()).toMatchObject({
        error: { data: { outcome: 'not executed' } },
      });
    }
    open();
    expect(await (await running).json()).toMatchObject({ id: 7, result: { content: [] } });
    expect(await (await modern).json()).toMatchObject({ id: 7, result: { content: [] } });
  });

  it('accepts the answers to server requests of running calls', async () => {
    await start();
    const initialize = {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: { elicitation: {} } },
    };
    const begun = await service.post(initialize);
    const session = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' };
    const messages = messagesOf(await service.post(call('ask'), session));
    const { value: question } = await messages.next();
    service.drain.begin();
    const answer = { jsonrpc: '2.0', id: question?.['id'], result: { action: 'decline' } };
    expect((await service.post(answer, session)).status).toBe(202);
    const { value } = await messages.next();
    expect(value).toMatchObject({ id: 7, result: { action: 'decline' } });
  });

  it('ends calls of the stateless era and streams of changes in order at the deadline', async () => {
    await start();
    const modern = service.post(modernCall('hang'), { ...modernHeaders, 'mcp-name': 'hang' });
    const changes = messagesOf(await service.post(...listenTo([])));
    expect((await changes.next()).value).toMatchObject({
      method: 'notifications/subscriptions/acknowledged',
    });
    await eventually(() => expect(service.endpoint.runningCalls).toBe(1));
    service.endpoint.close();
    expect(await (await modern).json()).toMatchObject({
      id: 7,
      error: { data: { outcome: 'unknown' } },
    });
    expect((await changes.next()).value).toMatchObject({ id: 9, result: {} });
    expect((await changes.next()).done).toBe(true);
  });
});

describe('a batch', () => {
  it('is refused when it has too many messages', async () => {
    await start();
    const session = { 'mcp-session-id': await service.handshake() };
    const messages = (count: number) => Array.from({ length: count }, (_, i) => call('none', i));
    const answer = await service.post(messages(101), session);
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { error: { code: -32_600, message: expect.stringContaining('at most 100') } },
    ]);
    const text = await (await service.post(messages(100), session)).text();
    expect(text.match(/"result"/g)).toHaveLength(100);
  });

  it('yields to other requests between its messages', async () => {
    await start();
    const alice = { 'mcp-session-id': await service.handshake() };
    const bob = { 'mcp-session-id': await service.handshake('bob'), 'x-caller': 'bob' };
    const batch = service.post(
      Array.from({ length: 100 }, (_, i) => call('none', i)),
      alice,
    );
    // Not `eventually`: the whole batch takes less than one of its intervals.
    while (view.order.length === 0) await setImmediate();
    await (await service.post(call('none'), bob)).text();
    await (await batch).text();
    expect(view.order.indexOf('tools/call bob')).toBeLessThan(view.order.length - 1);
  });

  it('starts the next message only when its previous answers are read', async () => {
    await start({ total: 60 * MB });
    const session = { 'mcp-session-id': await service.handshake() };
    const reader = nonReader();
    const messages = Array.from({ length: 50 }, (_, i) => call('large', i));
    reader.post(messages, session);
    await eventually(() => expect(service.unsent.total).toBeGreaterThan(MB));
    await service.post(call('none', 'x'), session);
    expect(view.order.length).toBeLessThan(10);
    expect(service.cuts).toEqual([]);
  });
});

describe('subscriptions', () => {
  const uris = (count: number) => Array.from({ length: count }, (_, i) => `test://${i}`);

  it('of one stream are bounded, and the error names the bound', async () => {
    await start();
    const answer = await service.post(...listenTo(uris(1_001)));
    expect(await answer.json()).toMatchObject({
      id: 9,
      error: { code: -32_602, message: expect.stringContaining('at most 1000') },
    });
    expect([view.asked.length, service.endpoint.standingStreams]).toEqual([0, 0]);
  });

  it('are requested once each, a few at a time', async () => {
    await start();
    const answer = await service.post(...listenTo([...uris(300), ...uris(300)]));
    const { value } = await messagesOf(answer).next();
    expect(value).toMatchObject({ method: 'notifications/subscriptions/acknowledged' });
    expect([view.asked.length, view.mostAtOnce]).toEqual([300, 8]);
  });

  it('are released when the client disconnects while servers are being asked', async () => {
    await start();
    let open: () => void = () => undefined;
    view.gate = new Promise((resolve) => (open = resolve));
    const reader = nonReader();
    reader.post(...listenTo(uris(500)));
    await eventually(() => expect(view.asked.length).toBe(8));
    expect(service.endpoint.standingStreams).toBe(1);
    reader.close();
    await eventually(() => expect(service.endpoint.standingStreams).toBe(0));
    open();
    await eventually(() => expect(view.held.size).toBe(0));
    expect(view.asked.length).toBe(8);
    expect(view.watchers).toBe(0);
  });

  it('of one session are bounded, and end with it', async () => {
    await start();
    const session = { 'mcp-session-id': await service.handshake() };
    const subscribe = (uri: string, id: number) => ({
      jsonrpc: '2.0',
      id,
      method: 'resources/subscribe',
      params: { uri },
    });
    for (let hundred = 0; hundred < 10; hundred++) {
      const batch = Array.from({ length: 100 }, (_, i) => subscribe(`test://${hundred}/${i}`, i));
      await (await service.post(batch, session)).text();
    }
    const refused = await service.post(subscribe('test://more', 1), session);
    expect(await refused.json()).toMatchObject({ error: { code: -32_602 } });
    expect(view.held.size).toBe(1_000);
    await fetch(service.url, { method: 'DELETE', headers: session });
    await eventually(() => expect(view.held.size).toBe(0));
  });

  it('are released when the session ends while the server is being asked', async () => {
    await start();
    let open: () => void = () => undefined;
    view.gate = new Promise((resolve) => (open = resolve));
    const session = { 'mcp-session-id': await service.handshake() };
    const params = { uri: 'test://one' };
    const asking = service.post(
      { jsonrpc: '2.0', id: 3, method: 'resources/subscribe', params },
      session,
    );
    await eventually(() => expect(view.asked).toEqual(['test://one']));
    await fetch(service.url, { method: 'DELETE', headers: session });
    open();
    expect(await (await asking).json()).toMatchObject({ error: { code: -32_000 } });
    await eventually(() => expect(view.held.size).toBe(0));
  });
});
