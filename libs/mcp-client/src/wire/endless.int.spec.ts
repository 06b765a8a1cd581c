import { SharedBudget } from '@app/platform';
import type { Socket } from 'node:net';
import { eventually } from '../../../../test/support/eventually.js';
import { heldBytes } from '../../../../test/support/memory.js';
import { httpAnswer, type RawRequest, RawServer } from '../../../../test/support/raw-server.js';
import { connectUpstream } from '../connect/connect-upstream.js';
import type { ConnectOptions, RequestCaller, UpstreamSession } from '../upstream.js';

const options: ConnectOptions = {
  connectTimeoutMs: 60_000,
  maxAnswerBytes: 10_000_000,
  clientInfo: { name: 'switchboard-test', version: '0' },
  clientCapabilities: {},
  priorEra: 'legacy',
  allowInsecureHttp: false,
};
const servers: RawServer[] = [];
const sessions: UpstreamSession[] = [];

afterEach(async () => {
  await Promise.all(sessions.splice(0).map((session) => session.close({ force: true })));
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly protocolVersion?: string };
}
const messageIn = ({ body }: RawRequest): Message => (body ? (JSON.parse(body) as Message) : {});

function openingOf({ id, params }: Message): string {
  const { protocolVersion } = params ?? {};
  const serverInfo = { name: 'endless', version: '1' };
  return JSON.stringify({
    jsonrpc: '2.0',
    id,
    result: { protocolVersion, capabilities: { tools: {} }, serverInfo },
  });
}

type Behaviour = (socket: Socket, message: Message, request: RawRequest) => void;

/** Opens a session normally, and handles every other request with `behaviour`. */
async function http(
  behaviour: Behaviour,
  more: Partial<ConnectOptions> = {},
): Promise<{ server: RawServer; session: UpstreamSession }> {
  const server = await RawServer.start((request, socket) => {
    const message = messageIn(request);
    if (message.method === 'initialize') {
      const type = { 'content-type': 'application/json', 'mcp-session-id': 's' };
      socket.write(httpAnswer(200, type, openingOf(message)));
    } else if (request.method === 'POST' && message.id === undefined) {
      socket.write(httpAnswer(202, {}));
    } else behaviour(socket, message, request);
  });
  servers.push(server);
  const target = { kind: 'HTTP' as const, url: `${server.origin}/mcp`, headers: {} };
  const session = await connectUpstream(target, { ...options, ...more });
  sessions.push(session);
  return { server, session };
}

const by = (principal: string): RequestCaller => ({ principal, client: {} });
const call = (session: UpstreamSession, timeoutMs = 60_000, principal?: string): Promise<unknown> =>
  session.request(
    'tools/call',
    { name: 'x', arguments: {} },
    { timeoutMs, caller: principal === undefined ? undefined : by(principal) },
  );
const outcome = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    (result) => result,
    (error: unknown) => error,
  );

describe('bytes of an answer that never ends', () => {
  it.each([
    ['one-byte chunks', 'application/json', '1\r\nx\r\n'],
    ['one-byte chunks of an event', 'text/event-stream', '1\r\nx\r\n'],
    ['empty lines of data', 'text/event-stream', '6\r\ndata:\n\r\n'],
  ])('cost what they are: %s', async (_name, type, chunk) => {
    const head = `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ntransfer-encoding: chunked\r\n\r\n`;
    const begin = type === 'text/event-stream' ? `${head}5\r\ndata:\r\n` : head;
    let written = 0;
    const { session } = await http((socket, { id }) => {
      if (id === undefined) return void socket.write(httpAnswer(405, {}));
      socket.write(begin);
      for (let i = 0; i < 8; i++) socket.write(chunk.repeat(50_000), () => written++);
    });
    const before = heldBytes();
    const failed = outcome(call(session));
    await eventually(() => expect(written).toBe(8));
    expect(heldBytes() - before).toBeLessThan(25_000_000);
    await session.close({ force: true });
    await failed;
  });

  it('are not allocated because of a content-length alone', async () => {
    const receiving = new SharedBudget(10_000_000_000);
    const head =
      'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9999999\r\n\r\n';
    const { server, session } = await http(
      (socket, { id }) =>
        socket.write(id === undefined ? httpAnswer(405, {}) : Buffer.from(`${head}{`)),
      { receiving },
    );
    const calls = Array.from({ length: 100 }, () => outcome(call(session)));
    await eventually(() => expect(server.connections).toBeGreaterThanOrEqual(100));
    await eventually(() => expect(receiving.held).toBeGreaterThan(0));
    expect(receiving.held).toBeLessThanOrEqual(100 * 1_048_576);
    await session.close({ force: true });
    await Promise.all(calls);
    expect(receiving.held).toBe(0);
  });

  it('that exceed the shared budget fail with the name of the setting, and release it for the next answer', async () => {
    const receiving = new SharedBudget(4_000_000);
    const { session } = await http(
      (socket, { id }, { method }) => {
        if (method !== 'POST') return void socket.write(httpAnswer(405, {}));
        const result = { content: [{ type: 'text', text: 'x'.repeat(3_000_000) }] };
        const small = { jsonrpc: '2.0', id, result: { content: [] } };
        const large = { jsonrpc: '2.0', id, result };
        const isFirst = !('wasLarge' in session);
        Object.assign(session, { wasLarge: true });
        const answer = JSON.stringify(isFirst ? large : small);
        socket.write(httpAnswer(200, { 'content-type': 'application/json' }, answer));
      },
      { receiving },
    );
    await expect(call(session)).rejects.toThrow('MCP_AGGREGATOR_MAX_RECEIVING_BYTES');
    await expect(call(session)).resolves.toEqual({ content: [] });
    expect(receiving.held).toBe(0);
  });

  it('of a refusal are not read to the end', async () => {
    const head = 'HTTP/1.1 500 x\r\ntransfer-encoding: chunked\r\n\r\n';
    const { session } = await http((socket) => {
      socket.write(head);
      for (let i = 0; i < 10; i++) socket.write(`2710\r\n${'x'.repeat(10_000)}\r\n`);
    });
    await expect(call(session)).rejects.toMatchObject({ httpStatus: 500 });
  });
});

describe('connections', () => {
  it('stay available to others when the calls of one user hang', async () => {
    let hanging = 0;
    const { session } = await http((socket, { id }, { body, method }) => {
      if (method !== 'POST') return void socket.write(httpAnswer(405, {}));
      if (!body.includes('quick')) return void hanging++;
      const answer = JSON.stringify({ jsonrpc: '2.0', id, result: {} });
      socket.write(httpAnswer(200, { 'content-type': 'application/json' }, answer));
    });
    const calls = Array.from({ length: 300 }, () => outcome(call(session, 60_000, 'greedy')));
    await eventually(() => expect(hanging).toBe(192));
    await expect(
      session.request('quick', undefined, { timeoutMs: 60_000, caller: by('other') }),
    ).resolves.toEqual({});
    expect(hanging).toBe(192);
    await session.close({ force: true });
    await Promise.all(calls);
  });

  it('of POSTs that never end are closed after their answer was read from the stream', async () => {
    let stream: Socket | undefined;
    const server = await RawServer.start((request, socket) => {
      const message = messageIn(request);
      if (request.method === 'GET') {
        stream = socket;
        const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n';
        return void socket.write(`${head}event: endpoint\ndata: /messages\n\n`);
      }
      // The answer comes on the stream; the POST itself never gets a response.
      if (message.id === undefined) return void socket.write(httpAnswer(202, {}));
      const answer =
        message.method === 'initialize'
          ? openingOf(message)
          : JSON.stringify({ jsonrpc: '2.0', id: message.id, result: {} });
      stream?.write(`data: ${answer}\n\n`);
    });
    servers.push(server);
    const target = { kind: 'SSE' as const, url: `${server.origin}/sse`, headers: {} };
    const session = await connectUpstream(target, options);
    sessions.push(session);
    await Promise.all(Array.from({ length: 30 }, () => call(session)));
    await eventually(() => expect(server.connections).toBeLessThanOrEqual(2));
  });
});

describe('the standing stream', () => {
  it('of a server that ends it at once is reopened after a second, then two', async () => {
    const times: number[] = [];
    const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n';
    await http((socket, _message, { method }) => {
      if (method !== 'GET') return;
      times.push(performance.now());
      socket.end(`${head}retry: 0\n\n`);
    });
    await eventually(() => expect(times.length).toBeGreaterThanOrEqual(3));
    const [first = 0, second = 0, third = 0] = times;
    expect(second - first).toBeGreaterThan(900);
    expect(third - second).toBeGreaterThan(1_800);
  });

  it('survives an id that no header can carry', async () => {
    const asked: RawRequest[] = [];
    const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n';
    const { session } = await http((socket, { id }, request) => {
      if (request.method === 'GET') {
        asked.push(request);
        return void socket.end(`${head}id: \u20ac\n\nid: a\u0007b\n\n`);
      }
      const answer = JSON.stringify({ jsonrpc: '2.0', id, result: {} });
      socket.write(httpAnswer(200, { 'content-type': 'application/json' }, answer));
    });
    await eventually(() => expect(asked.length).toBeGreaterThanOrEqual(2));
    expect(asked[1]?.headers['last-event-id']).toBe(Buffer.from('\u20ac').toString('latin1'));
    await expect(call(session)).resolves.toEqual({});
  });
});
