import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { eventually } from '../../../../test/support/eventually.js';
import { httpAnswer, type RawRequest, RawServer } from '../../../../test/support/raw-server.js';
import { connectUpstream } from '../connect/connect-upstream.js';
import type { ConnectOptions, UpstreamSession } from '../upstream.js';

const options: ConnectOptions = {
  connectTimeoutMs: 60_000,
  maxAnswerBytes: 1_000_000,
  clientInfo: { name: 'switchboard-test', version: '0' },
  clientCapabilities: {},
  priorEra: 'legacy',
  allowInsecureHttp: false,
};
const RESULT = { content: [{ type: 'text', text: 'süß' }] };
const json = { 'content-type': 'application/json' };
const events = { 'content-type': 'text/event-stream' };

const servers: RawServer[] = [];
const sessions: UpstreamSession[] = [];
const clients: Client[] = [];

afterEach(async () => {
  await Promise.all(sessions.splice(0).map((session) => session.close({ force: true })));
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

interface Wanted {
  readonly text: string;
  readonly request: RawRequest;
}
/** How the server writes the answer to a request, in chunks that are sent one by one. */
type Writing = (wanted: Wanted) => Buffer | readonly Buffer[];

function answerFor({ method, body }: RawRequest): string | number {
  if (method !== 'POST') return 405;
  const {
    id,
    method: asked,
    params,
  } = JSON.parse(body) as {
    id?: number;
    method: string;
    params?: { protocolVersion?: string };
  };
  if (id === undefined) return 202;
  const opening = {
    protocolVersion: params?.protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'lenient', version: '1' },
  };
  return JSON.stringify({ jsonrpc: '2.0', id, result: asked === 'initialize' ? opening : RESULT });
}

async function serve(write: Writing): Promise<RawServer> {
  const server = await RawServer.start(async (request, socket) => {
    const answer = answerFor(request);
    if (typeof answer === 'number') return void socket.write(httpAnswer(answer, {}));
    const written = write({ text: answer, request });
    for (const piece of Array.isArray(written) ? written : [written]) {
      socket.write(piece as Buffer);
      await new Promise(setImmediate);
    }
  });
  servers.push(server);
  return server;
}

async function ours(url: string, headers: Record<string, string> = {}): Promise<UpstreamSession> {
  const session = await connectUpstream({ kind: 'HTTP', url, headers }, options);
  sessions.push(session);
  return session;
}

const callOf = (session: UpstreamSession): Promise<unknown> =>
  session.request('tools/call', { name: 'x', arguments: {} }, { timeoutMs: 60_000 });

async function callBySdk(url: string): Promise<unknown> {
  const client = new Client(options.clientInfo);
  clients.push(client);
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return client.callTool({ name: 'x', arguments: {} });
}

const bytewise = (bytes: Buffer): Buffer[] => Array.from(bytes, (byte) => Buffer.from([byte]));
const compressed = (coding: string, pack: (text: Buffer) => Buffer): Writing => {
  return ({ text }) =>
    httpAnswer(200, { ...json, 'content-encoding': coding }, pack(Buffer.from(text)));
};
const stream = (lines: (text: string) => string): Writing => {
  return ({ text }) => httpAnswer(200, events, lines(text));
};

describe('reads what the official client reads in the same way', () => {
  it.each<[string, Writing]>([
    ['events whose lines end with LF', stream((text) => `data: ${text}\n\n`)],
    ['events whose lines end with CRLF', stream((text) => `data: ${text}\r\n\r\n`)],
    [
      'events whose lines end with CR',
      stream((text) => `event: message\rdata: ${text}\r\r: more\r`),
    ],
    ['events with all three', stream((text) => `id: 1\revent: message\r\ndata: ${text}\n\r\n`)],
    ['events in pieces', ({ text }) => bytewise(httpAnswer(200, events, `data: ${text}\r\n\r\n`))],
    ['events after a byte order mark', stream((text) => `\ufeffdata: ${text}\n\n`)],
    ['an event in many lines', stream((text) => `data: ${text.replace(',', ',\ndata: ')}\n\n`)],
    [
      'events after comments and unknown fields',
      stream((text) => `: hello\nretry: 0\nx: y\ndata:${text}\n\n`),
    ],
    ['gzip', compressed('gzip', gzipSync)],
    ['x-gzip', compressed('x-gzip', gzipSync)],
    ['deflate', compressed('deflate', deflateSync)],
    ['deflate without its wrapping', compressed('Deflate', deflateRawSync)],
    ['br', compressed('br', brotliCompressSync)],
    ['identity by name', compressed('identity', (text) => text)],
    [
      'events in gzip, in pieces',
      ({ text }) => {
        const body = gzipSync(Buffer.from(`data: ${text}\n\n`));
        return bytewise(httpAnswer(200, { ...events, 'content-encoding': 'gzip' }, body));
      },
    ],
    ...[307, 308].map((status): [string, Writing] => [
      `a ${status} within the origin`,
      ({ text, request }) =>
        request.path === '/mcp/'
          ? httpAnswer(200, json, text)
          : httpAnswer(status, { location: '/mcp/' }, 'moved'),
    ]),
    [
      'three redirects, the last one absolute',
      ({ text, request }) => {
        const next = { '/mcp': 'a', '/a': './b', '/b': `http://${request.headers['host']}/c?d=e` };
        const location = next[request.path as keyof typeof next];
        return location === undefined ? httpAnswer(200, json, text) : httpAnswer(307, { location });
      },
    ],
  ])('%s', async (_name, writing) => {
    const { origin } = await serve(writing);
    expect(await callBySdk(`${origin}/mcp`)).toEqual(RESULT);
    expect(await callOf(await ours(`${origin}/mcp`))).toEqual(RESULT);
  });
});

describe('a redirect', () => {
  const secret = { authorization: 'Bearer a-secret-of-the-server' };

  it('to another origin is refused with its name, and gets no credentials', async () => {
    const other = await serve(({ text }) => httpAnswer(200, json, text));
    const { origin } = await serve(() =>
      httpAnswer(307, { location: `${other.origin}/mcp?token=abc` }),
    );
    const failed = ours(`${origin}/mcp`, secret);
    await expect(failed).rejects.toThrow(
      `it redirects to ${other.origin}, another origin, where its credentials must not go`,
    );
    await expect(failed).rejects.not.toThrow('token=abc');
    expect(other.requests).toEqual([]);
  });

  it('within the origin keeps our headers', async () => {
    const server = await serve(({ text, request }) =>
      request.path === '/new' ? httpAnswer(200, json, text) : httpAnswer(308, { location: '/new' }),
    );
    await callOf(await ours(`${server.origin}/mcp`, secret));
    const arrived = server.requests.filter(({ path }) => path === '/new');
    expect(arrived.length).toBeGreaterThan(0);
    for (const { headers } of arrived) expect(headers).toMatchObject(secret);
  });

  it('loop ends', async () => {
    const server = await serve(() => httpAnswer(307, { location: '/mcp' }));
    await expect(ours(`${server.origin}/mcp`)).rejects.toThrow('it redirects again and again');
    expect(server.requests.length).toBeLessThan(20);
  });

  it('that would turn a POST into a GET is refused', async () => {
    const server = await serve(() => httpAnswer(303, { location: '/other' }));
    await expect(ours(`${server.origin}/mcp`)).rejects.toThrow('turns it into a GET');
    expect(server.requests.map(({ path }) => path)).not.toContain('/other');
  });
});

describe('a compressed answer', () => {
  it.each<[string, (bytes: Buffer) => Buffer]>([
    ['gzip', (bytes) => gzipSync(bytes)],
    ['br', (bytes) => brotliCompressSync(bytes)],
  ])('that becomes too large is stopped there: %s', async (coding, pack) => {
    const bomb = pack(Buffer.alloc(50_000_000, ' '));
    const { origin } = await serve(({ text }) =>
      text.includes('capabilities')
        ? httpAnswer(200, json, text)
        : httpAnswer(200, { ...json, 'content-encoding': coding }, bomb),
    );
    const session = await ours(`${origin}/mcp`);
    await expect(callOf(session)).rejects.toThrow('larger than 1000000 bytes');
  });

  it.each([
    ['of an unknown coding', 'zstd', Buffer.from('{}'), 'none of gzip, deflate and br'],
    ['of two codings', 'gzip, br', Buffer.from('{}'), 'none of gzip, deflate and br'],
    ['that is not what it says', 'gzip', Buffer.from('{"not":"gzip"}'), 'not gzip, as it says'],
    ['that is cut off', 'gzip', gzipSync(Buffer.from('{"a":1}')).subarray(0, -6), 'not gzip'],
  ])('%s is refused with the reason', async (_name, coding, body, reason) => {
    const { origin } = await serve(({ text }) =>
      text.includes('capabilities')
        ? httpAnswer(200, json, text)
        : httpAnswer(200, { ...json, 'content-encoding': coding }, body),
    );
    const session = await ours(`${origin}/mcp`);
    await expect(callOf(session)).rejects.toThrow(reason);
  });

  it('leaves its connection usable for the next request', async () => {
    const server = await serve(compressed('gzip', gzipSync));
    const session = await ours(`${server.origin}/mcp`);
    for (let i = 0; i < 5; i++) expect(await callOf(session)).toEqual(RESULT);
    await eventually(() => expect(server.connections).toBeLessThanOrEqual(3));
  });
});
