import { Client as ModernSdk, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as LegacySdk } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CallToolResultSchema,
  ElicitRequestSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { JsonObject } from '@app/platform';
import { rpcCode, RpcError } from '@app/mcp-protocol';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LegacySession } from '../legacy/legacy-session.js';
import { McpEndpoint } from './mcp-endpoint.js';
import type { ClientCall, McpClient, McpSurface, ServerChange } from '../surface.js';
import { eventually } from '../../../../test/support/eventually.js';

const form = {
  message: 'Your name?',
  requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
};

/** A view for tests: tools that echo, send requests, report progress, hang and fail. */
class TestSurface implements McpSurface {
  readonly key = 'test';
  readonly serverInfo = { name: 'test', version: '1' };
  readonly aborted: string[] = [];
  readonly subscribed: string[] = [];
  private readonly watchers = new Map<() => void, string>();
  readonly forgotten: McpClient[] = [];
  /** Lets the tool `steps` continue. */
  step: () => void = () => undefined;
  private readonly listeners = new Set<(change: ServerChange) => void>();

  async ready(): Promise<void> {}

  describe() {
    return {
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
      },
      instructions: 'Be kind',
    };
  }

  async handle(method: string, params: JsonObject, call: ClientCall): Promise<JsonObject> {
    if (method === 'tools/list') {
      return { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] };
    }
    if (method !== 'tools/call') throw new RpcError(rpcCode.methodNotFound, 'Method not found');
    const args = params['arguments'] ?? {};
    switch (params['name']) {
      case 'echo':
        return { content: [{ type: 'text', text: JSON.stringify(args) }] };
      case 'meta':
        return { content: [{ type: 'text', text: JSON.stringify(params['_meta'] ?? null) }] };
      case 'report':
        call.notify('notifications/progress', { progressToken: tokenOf(params), progress: 1 });
        return { content: [] };
      case 'steps':
        for (let progress = 1; progress <= 3; progress++) {
          call.notify('notifications/progress', { progressToken: tokenOf(params), progress });
          await new Promise<void>((resolve) => (this.step = resolve));
        }
        return { content: [{ type: 'text', text: 'three steps' }] };
      case 'ask': {
        const first = await call.ask('elicitation/create', form);
        const second = await call.ask('elicitation/create', form);
        return { content: [{ type: 'text', text: JSON.stringify([first, second]) }] };
      }
      case 'hurry':
        call.ask('elicitation/create', form).catch(() => undefined);
        await new Promise((resolve) => setTimeout(resolve, 50));
        return { content: [] };
      case 'hang':
        return new Promise((_, reject) => {
          call.signal.addEventListener('abort', () => {
            this.aborted.push(call.client.caller.name);
            reject(new Error('aborted'));
          });
        });
      default:
        throw new RpcError(rpcCode.invalidParams, 'Unknown tool', { tool: 'which' });
    }
  }

  inputSchemaOf(tool: string): JsonObject {
    return tool === 'regional'
      ? { type: 'object', properties: { n: { type: 'integer', 'x-mcp-header': 'Number' } } }
      : {};
  }

  async subscribe(uri: string, onUpdated: () => void): Promise<() => void> {
    this.subscribed.push(uri);
    this.watchers.set(onUpdated, uri);
    return () => {
      this.subscribed.splice(this.subscribed.indexOf(uri), 1);
      this.watchers.delete(onUpdated);
    };
  }

  updated(changed: string): void {
    for (const [tell, uri] of this.watchers) if (uri === changed) tell();
  }

  watch(listener: (change: ServerChange) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  forget(client: McpClient): void {
    this.forgotten.push(client);
  }

  change(change: ServerChange): void {
    for (const listener of this.listeners) listener(change);
  }
}

function tokenOf(params: JsonObject) {
  const meta = params['_meta'];
  return typeof meta === 'object' && meta !== null && !Array.isArray(meta)
    ? (meta['progressToken'] ?? null)
    : null;
}

let view: TestSurface;
let endpoint: McpEndpoint;
let server: Server;
let url: URL;
let now: number;
const closing: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  view = new TestSurface();
  now = Date.now();
  endpoint = new McpEndpoint(
    { max: 3, idleMs: 60_000 },
    {
      monotonic: () => now,
      now: () => new Date(now),
    },
  );
  server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (part: string) => (text += part));
    request.on('end', () => {
      const body: unknown = text === '' ? undefined : JSON.parse(text);
      const name = String(request.headers['x-caller'] ?? 'alice');
      const caller = { name, subject: name, ip: null };
      void endpoint.handle(view, { request, response, headers: [] }, body, caller);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  url = new URL(`http://127.0.0.1:${port}/mcp`);
});

afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
  endpoint.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function legacyClient(capabilities = {}): Promise<LegacySdk> {
  const client = new LegacySdk({ name: 'old', version: '1' }, { capabilities });
  // The SDK's own types do not fit exactOptionalPropertyTypes.
  await client.connect(new LegacyTransport(url) as Parameters<LegacySdk['connect']>[0]);
  closing.push(() => client.close());
  return client;
}

async function modernClient(capabilities = {}): Promise<ModernSdk> {
  const client = new ModernSdk(
    { name: 'new', version: '1' },
    { capabilities, versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  await client.connect(new StreamableHTTPClientTransport(url));
  closing.push(() => client.close());
  return client;
}

function post(message: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify(message),
  });
}

async function handshake(caller = 'alice'): Promise<string> {
  const answer = await post(
    {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: {} },
    },
    { 'x-caller': caller },
  );
  await answer.text();
  return answer.headers.get('mcp-session-id') ?? '';
}

const ping = { jsonrpc: '2.0', id: 2, method: 'ping' };

describe('a legacy client', () => {
  it('performs the handshake, lists and calls', async () => {
    const client = await legacyClient();
    expect(client.getServerVersion()).toEqual({ name: 'test', version: '1' });
    expect(client.getInstructions()).toBe('Be kind');
    expect((await client.listTools()).tools.map((tool) => tool.name)).toEqual(['echo']);
    expect(await client.callTool({ name: 'echo', arguments: { a: 1 } })).toEqual({
      content: [{ type: 'text', text: '{"a":1}' }],
    });
  });

  it('gets progress before the answer', async () => {
    const client = await legacyClient();
    const heard: unknown[] = [];
    await client.callTool({ name: 'report', arguments: {} }, undefined, {
      onprogress: (progress) => heard.push(progress),
    });
    expect(heard).toEqual([{ progress: 1 }]);
  });

  it('gets server requests on the stream of its call', async () => {
    const client = await legacyClient({ elicitation: {} });
    let count = 0;
    client.setRequestHandler(ElicitRequestSchema, () => ({
      action: 'accept',
      content: { name: `Ada ${++count}` },
    }));
    const result = await client.callTool({ name: 'ask', arguments: {} });
    expect(result.content).toEqual([
      {
        type: 'text',
        text: '[{"action":"accept","content":{"name":"Ada 1"}},{"action":"accept","content":{"name":"Ada 2"}}]',
      },
    ]);
  });

  it('gets a cancellation when its answer is no longer needed', async () => {
    const client = await legacyClient({ elicitation: {} });
    const heard: string[] = [];
    client.setRequestHandler(ElicitRequestSchema, (_request, { signal }) => {
      signal.addEventListener('abort', () => heard.push('cancelled'));
      return new Promise(() => undefined);
    });
    await client.callTool({ name: 'hurry', arguments: {} });
    await eventually(() => expect(heard).toEqual(['cancelled']));
  });

  it('gets no request for a capability that it did not declare', async () => {
    const client = await legacyClient();
    await expect(client.callTool({ name: 'ask', arguments: {} })).rejects.toThrow(
      /does not support elicitation/,
    );
  });

  it('gets errors with their code and data', async () => {
    const client = await legacyClient();
    await expect(client.callTool({ name: 'none' })).rejects.toMatchObject({
      code: -32_602,
      data: { tool: 'which' },
    });
  });

  it('cancels its own calls', async () => {
    const client = await legacyClient();
    const controller = new AbortController();
    const call = client.request(
      { method: 'tools/call', params: { name: 'hang', arguments: {} } },
      CallToolResultSchema,
      { signal: controller.signal },
    );
    const failed = expect(call).rejects.toThrow();
    await client.ping();
    controller.abort();
    await failed;
    await eventually(() => expect(view.aborted).toEqual(['alice']));
  });

  it('gets change notifications on its standing stream', async () => {
    const client = await legacyClient();
    const heard: string[] = [];
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
      heard.push('tools');
    });
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
      heard.push(params.uri);
    });
    await client.subscribeResource({ uri: 'test://one' });
    await eventually(() => {
      if (heard.length === 0) view.change({ kind: 'tools' });
      expect(heard).toContain('tools');
    });
    view.updated('test://two');
    view.updated('test://one');
    await eventually(() => expect(heard.at(-1)).toBe('test://one'));
    expect(heard).not.toContain('test://two');
    await client.unsubscribeResource({ uri: 'test://one' });
    expect(view.subscribed).toEqual([]);
  });

  it('may send several requests in one body', async () => {
    const session = await handshake();
    const answer = await post([ping, { ...ping, id: 'b' }] as object, {
      'mcp-session-id': session,
    });
    const text = await answer.text();
    expect(text).toContain('"id":2');
    expect(text).toContain('"id":"b"');
  });
});

describe('a session', () => {
  it('is required after the handshake', async () => {
    expect((await post(ping)).status).toBe(400);
  });

  it('is not found under any other id', async () => {
    const answer = await post(ping, { 'mcp-session-id': 'guess' });
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({
      error: { code: -32_001, data: { error_code: 'SESSION_NOT_FOUND' } },
    });
  });

  it.each(['GET', 'DELETE'])('is not found by %s under any other id', async (method) => {
    const headers = { 'mcp-session-id': 'guess', accept: 'text/event-stream' };
    const answer = await fetch(url, { method, headers });
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({
      error: { data: { error_code: 'SESSION_NOT_FOUND' } },
    });
  });

  it('can be used only by the caller who opened it', async () => {
    const session = await handshake('alice');
    const answer = await post(ping, { 'mcp-session-id': session, 'x-caller': 'mallory' });
    expect(answer.status).toBe(404);
  });

  it('ends when its client deletes it', async () => {
    const session = await handshake();
    const headers = { 'mcp-session-id': session };
    expect((await fetch(url, { method: 'DELETE', headers })).status).toBe(200);
    expect((await post(ping, headers)).status).toBe(404);
  });

  it('expires when it is idle for too long', async () => {
    const session = await handshake();
    now += 60_001;
    await handshake();
    expect((await post(ping, { 'mcp-session-id': session })).status).toBe(404);
    expect(endpoint.sessionCount).toBe(1);
  });

  it.each([
    [
      'is deleted',
      (id: string) => fetch(url, { method: 'DELETE', headers: { 'mcp-session-id': id } }),
    ],
    ['is evicted', () => Promise.all([handshake(), handshake(), handshake()])],
    ['expires', (id: string) => ((now += 60_001), post(ping, { 'mcp-session-id': id }))],
    ['is closed with the endpoint', async () => endpoint.close()],
  ])('is forgotten by its view once when it %s', async (_, end) => {
    const id = await handshake();
    await end(id);
    endpoint.close();
    const ended = view.forgotten.filter(
      (client) => client instanceof LegacySession && client.id === id,
    );
    expect(ended).toHaveLength(1);
  });

  it('is evicted, least recently used first, when there are too many', async () => {
    const first = await handshake();
    const second = await handshake();
    await handshake();
    await post(ping, { 'mcp-session-id': first });
    await handshake();
    expect((await post(ping, { 'mcp-session-id': first })).status).toBe(200);
    expect((await post(ping, { 'mcp-session-id': second })).status).toBe(404);
  });
});

describe('an interrupted stream of a session', () => {
  const steps = {
    jsonrpc: '2.0',
    id: 7,
    method: 'tools/call',
    params: { name: 'steps', _meta: { progressToken: 'p' } },
  };
  const listen = (session: string, seen?: string, caller = 'alice'): Promise<Response> =>
    fetch(url, {
      headers: {
        accept: 'text/event-stream',
        'mcp-session-id': session,
        'x-caller': caller,
        ...(seen !== undefined && { 'last-event-id': seen }),
      },
    });
  /** Yields ids and messages as they come; closes the connection when the iterator is returned. */
  async function* eventsOf(answer: Response): AsyncGenerator<{ id: string; message: JsonObject }> {
    let text = '';
    for await (const part of answer.body ?? []) {
      text += Buffer.from(part as Uint8Array).toString('utf8');
      const whole = text.split('\n\n');
      text = whole.pop() ?? '';
      for (const event of whole) {
        const [, id = '', data = '{}'] = /id: (\S+)\ndata: (.+)/.exec(event) ?? [];
        yield { id, message: JSON.parse(data) as JsonObject };
      }
    }
  }
  /** Calls, reads one event and disconnects. */
  async function lost(session: string): Promise<string> {
    for await (const { id } of eventsOf(await post(steps, { 'mcp-session-id': session }))) {
      return id;
    }
    throw new Error('nothing came');
  }

  it('resumes where it was, without duplicates', async () => {
    const session = await handshake();
    const seen = await lost(session);
    view.step();
    await new Promise((resolve) => setImmediate(resolve));
    const events = eventsOf(await listen(session, seen));
    const { value: second } = await events.next();
    expect(second?.message).toMatchObject({ params: { progress: 2 } });
    view.step();
    const { value: third } = await events.next();
    expect(third?.message).toMatchObject({ params: { progress: 3 } });
    view.step();
    const { value: last } = await events.next();
    expect(last?.message).toMatchObject({ id: 7, result: { content: [{ text: 'three steps' }] } });
    expect((await events.next()).done).toBe(true);

    // The final message can be lost too.
    const again = eventsOf(await listen(session, String(third?.id)));
    expect((await again.next()).value).toEqual(last);
  });

  it('cannot be resumed by another caller or in another session', async () => {
    const session = await handshake();
    const seen = await lost(session);
    expect((await listen(session, seen, 'bob')).status).toBe(404);
    const other = await listen(await handshake(), seen);
    view.change({ kind: 'tools' });
    const { value: first } = await eventsOf(other).next();
    expect(first?.message).toMatchObject({ method: 'notifications/tools/list_changed' });
  });

  it('expires after a while', async () => {
    const session = await handshake();
    const seen = await lost(session);
    view.step();
    await new Promise((resolve) => setImmediate(resolve));
    for (let minute = 0; minute < 7; minute++) {
      now += 50_000;
      const report = { ...steps, params: { ...steps.params, name: 'report' } };
      await post(report, { 'mcp-session-id': session });
    }
    const stream = await listen(session, seen);
    view.change({ kind: 'tools' });
    const { value: first } = await eventsOf(stream).next();
    expect(first?.message).toMatchObject({ method: 'notifications/tools/list_changed' });
  });

  it('is resumed by the SDK client, whose call gets its answer', async () => {
    const client = await legacyClient();
    const heard: number[] = [];
    const answer = client.callTool({ name: 'steps', arguments: {} }, undefined, {
      onprogress: ({ progress }) => {
        heard.push(progress);
        if (progress === 1) server.closeAllConnections();
        // The tool starts to wait for its next step just after it has reported.
        setImmediate(() => view.step());
      },
    });
    expect((await answer).content).toEqual([{ type: 'text', text: 'three steps' }]);
    expect(heard).toEqual([1, 2, 3]);
  });

  it('replays messages of the standing stream that came meanwhile', async () => {
    const session = await handshake();
    const standing = await listen(session);
    view.change({ kind: 'tools' });
    let seen = '';
    for await (const { id } of eventsOf(standing)) {
      seen = id;
      break;
    }
    view.change({ kind: 'prompts' });
    const { value: missed } = await eventsOf(await listen(session, seen)).next();
    expect(missed?.message).toMatchObject({ method: 'notifications/prompts/list_changed' });
  });
});

describe('a modern client', () => {
  it('discovers, lists and calls', async () => {
    const client = await modernClient();
    expect(client.getInstructions()).toBe('Be kind');
    expect((await client.listTools()).tools.map((tool) => tool.name)).toEqual(['echo']);
    const result = await client.callTool({ name: 'echo', arguments: { a: 1 } });
    expect(result.content).toEqual([{ type: 'text', text: '{"a":1}' }]);
  });

  it('gets server requests as results that require input', async () => {
    const client = await modernClient({ elicitation: { form: {} } });
    let count = 0;
    client.setRequestHandler('elicitation/create', () => ({
      action: 'accept',
      content: { name: `Ada ${++count}` },
    }));
    const result = await client.callTool({ name: 'ask', arguments: {} });
    expect(result.content).toEqual([
      {
        type: 'text',
        text: '[{"action":"accept","content":{"name":"Ada 1"}},{"action":"accept","content":{"name":"Ada 2"}}]',
      },
    ]);
  });

  it('gets progress before the answer', async () => {
    const client = await modernClient();
    const heard: unknown[] = [];
    await client.callTool(
      { name: 'report', arguments: {} },
      { onprogress: (progress) => heard.push(progress) },
    );
    expect(heard).toEqual([{ progress: 1 }]);
  });

  it('cancels by disconnecting', async () => {
    const client = await modernClient();
    const controller = new AbortController();
    const call = client.callTool({ name: 'hang', arguments: {} }, { signal: controller.signal });
    const failed = expect(call).rejects.toThrow();
    await client.listTools();
    controller.abort();
    await failed;
    await eventually(() => expect(view.aborted).toEqual(['alice']));
  });

  it('gets the change notifications it listens for', async () => {
    const client = await modernClient();
    const heard: string[] = [];
    client.setNotificationHandler('notifications/tools/list_changed', () => {
      heard.push('tools');
    });
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
      heard.push(params.uri);
    });
    const subscription = await client.listen({
      toolsListChanged: true,
      promptsListChanged: true,
      resourceSubscriptions: ['test://one'],
    });
    expect(subscription.honoredFilter).toEqual({
      toolsListChanged: true,
      resourceSubscriptions: ['test://one'],
    });
    view.change({ kind: 'tools' });
    view.updated('test://two');
    view.updated('test://one');
    await eventually(() => expect(heard).toEqual(['tools', 'test://one']));
    await subscription.close();
    await eventually(() => expect(view.subscribed).toEqual([]));
  });

  const version = '2026-07-28';
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
  };
  const headers = { 'mcp-protocol-version': version, 'mcp-method': 'tools/call' };
  const call = (name: string, more = {}) => ({
    jsonrpc: '2.0',
    id: 7,
    method: 'tools/call',
    params: { name, arguments: {}, _meta: { ...envelope, 'my.own/key': 1 }, ...more },
  });

  it('keeps its own metadata in requests, without the envelope', async () => {
    const answer = await post(call('meta'), { ...headers, 'mcp-name': 'meta' });
    expect(await answer.json()).toMatchObject({
      id: 7,
      result: { resultType: 'complete', content: [{ text: '{"my.own/key":1}' }] },
    });
  });

  it.each([
    ['no version header', { 'mcp-method': 'tools/call', 'mcp-name': 'echo' }, -32_020],
    ['no method header', { 'mcp-protocol-version': version, 'mcp-name': 'echo' }, -32_020],
    ['no name header', headers, -32_020],
    ['another name in the header', { ...headers, 'mcp-name': 'other' }, -32_020],
    ['another method in the header', { ...headers, 'mcp-method': 'ping' }, -32_020],
  ])('is refused with %s', async (_, given, code) => {
    const answer = await post(call('echo'), given);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ id: 7, error: { code } });
  });

  it.each([
    ['is missing', {}, 400],
    ['differs', { 'mcp-param-number': '8' }, 400],
    ['is no Base64', { 'mcp-param-number': '=?base64?7?=' }, 400],
    ['is the same', { 'mcp-param-number': '7' }, 200],
    ['is the same number', { 'mcp-param-number': '7.0' }, 200],
    ['is the same in Base64', { 'mcp-param-number': '=?base64?Nw==?=' }, 200],
  ])('calls or not when the header of an argument %s', async (_, given, status) => {
    const message = call('regional', { arguments: { n: 7 } });
    const answer = await post(message, { ...headers, 'mcp-name': 'regional', ...given });
    expect(answer.status).toBe(status);
  });

  it('gets the list of supported versions', async () => {
    const message = call('echo');
    message.params._meta['io.modelcontextprotocol/protocolVersion'] = '2027-01-01';
    const answer = await post(message, { ...headers, 'mcp-protocol-version': '2027-01-01' });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      error: { code: -32_022, data: { supported: [version], requested: '2027-01-01' } },
    });
  });

  it.each(['ping', 'logging/setLevel', 'initialize', 'made/up'])(
    'gets an error for the unknown method %s',
    async (method) => {
      const answer = await post(
        { ...call('echo'), method },
        { 'mcp-protocol-version': version, 'mcp-method': method },
      );
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({ error: { code: -32_601 } });
    },
  );

  describe('that has to provide input', () => {
    const asked = { ...headers, 'mcp-name': 'ask' };
    const accepted = { action: 'accept', content: { name: 'Ada' } };

    async function stateOf(answer: Response): Promise<string> {
      const { result } = (await answer.json()) as { result: Record<string, unknown> };
      expect(result).toMatchObject({ resultType: 'input_required' });
      return String(result['requestState']);
    }

    it('cannot use its state twice', async () => {
      const requestState = await stateOf(await post(call('ask'), asked));
      const more = { requestState, inputResponses: { q1: accepted } };
      await stateOf(await post(call('ask', more), asked));
      const again = await post(call('ask', more), asked);
      expect(await again.json()).toMatchObject({ error: { code: -32_602 } });
    });

    it('cannot pass its state to another caller', async () => {
      const requestState = await stateOf(await post(call('ask'), asked));
      const more = { requestState, inputResponses: { q1: accepted } };
      const other = await post(call('ask', more), { ...asked, 'x-caller': 'mallory' });
      expect(await other.json()).toMatchObject({ error: { code: -32_602 } });
      await stateOf(await post(call('ask', more), asked));
    });

    it('gets a request for the missing input again', async () => {
      const requestState = await stateOf(await post(call('ask'), asked));
      await stateOf(await post(call('ask', { requestState, inputResponses: {} }), asked));
    });
  });
});

describe(McpEndpoint.name, () => {
  it.each([[{}], [[]], [{ jsonrpc: '1.0', id: 1, method: 'ping' }], ['text']])(
    'refuses %j as no message',
    async (body) => {
      const answer = await post(body as object);
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ error: { code: -32_600 } });
    },
  );

  it('refuses other methods', async () => {
    expect((await fetch(url, { method: 'PUT' })).status).toBe(405);
  });
});
