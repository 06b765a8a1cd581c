import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http.js';

const LIMIT = 100_000;
/** Far more than the buffers of a connection on loopback hold. */
const BODY = 40_000_000;
const PIECE = Buffer.alloc(65_536, 'x');

/** Sends a body to its end before it reads the answer, as simple clients do. */
class Sender {
  private text = '';
  hasEnded = false;
  problem: string | undefined;

  private constructor(private readonly socket: Socket) {}

  static async open({ url }: TestApp, head: string): Promise<Sender> {
    const { port } = new URL(url);
    const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true });
    const sender = new Sender(socket);
    socket.on('error', ({ message }) => (sender.problem = message));
    await once(socket, 'connect');
    socket.write(head);
    return sender;
  }

  async send(bytes: number, isChunked: boolean): Promise<void> {
    for (let sent = 0; sent < bytes && !this.problem; sent += PIECE.length) {
      const size = `${PIECE.length.toString(16)}\r\n`;
      const piece = isChunked ? Buffer.concat([Buffer.from(size), PIECE, CRLF]) : PIECE;
      await new Promise((resolve) => this.socket.write(piece, resolve));
    }
    if (isChunked) this.socket.write('0\r\n\r\n');
  }

  write(text: string): void {
    this.socket.write(text);
  }

  /** What was answered, up to the end that the service gave to the connection. */
  async read(): Promise<string> {
    this.listen();
    await eventually(() => expect([this.hasEnded, this.problem]).not.toEqual([false, undefined]));
    this.socket.destroy();
    return this.text;
  }

  listen(): void {
    this.socket.setEncoding('latin1').on('data', (text: string) => (this.text += text));
    this.socket.on('end', () => (this.hasEnded = true));
  }

  get answers(): string[] {
    return this.text.match(/HTTP\/1\.1 \d+/g) ?? [];
  }

  close(): void {
    this.socket.destroy();
  }
}
const CRLF = Buffer.from('\r\n');

describe('an answer before the end of the request', () => {
  let service: TestApp;
  beforeAll(async () => {
    service = await startApp({
      MCP_AGGREGATOR_RATE_LIMIT: '0',
      MCP_AGGREGATOR_BODY_LIMIT: String(LIMIT),
    });
  });
  afterAll(() => service.close());

  const head = (path: string, more: readonly string[], token = service.token): string =>
    [
      `POST ${path} HTTP/1.1`,
      'host: localhost',
      `authorization: Bearer ${token}`,
      'content-type: application/json',
      'accept: application/json, text/event-stream',
      ...more,
      '\r\n',
    ].join('\r\n');
  const length = `content-length: ${BODY - (BODY % PIECE.length) + PIECE.length}`;
  const chunked = 'transfer-encoding: chunked';

  describe.each([
    '/api/v1/tools/call',
    '/api/v1/search',
    '/api/v1/aggregator/servers',
    '/mcp',
    '/mcp/search',
    '/no/such/route',
  ])('to %s', (path) => {
    it.each([
      ['with its length', false, [length]],
      ['in chunks', true, [chunked]],
      ['with its length, on a connection for one request', false, [length, 'connection: close']],
    ] as const)('reaches a client that sends too much, %s', async (_, isChunked, more) => {
      const sender = await Sender.open(service, head(path, more));
      await sender.send(BODY, isChunked);
      const text = await sender.read();
      expect({ problem: sender.problem, text }).toEqual({
        problem: undefined,
        text: expect.stringMatching(/^HTTP\/1\.1 413 [\s\S]*"PAYLOAD_TOO_LARGE"/),
      });
    });
  });

  it.each([
    ['a client without a token', 401, 'wrong'],
    ['a client with too little of a token', 403, 'read'],
  ] as const)('reaches %s that closes its connection afterwards', async (_, status, scope) => {
    const token = scope === 'read' ? service.tokens.read : scope;
    const from = head('/api/v1/aggregator/servers', [length, 'connection: close'], token);
    const sender = await Sender.open(service, from);
    await sender.send(BODY, false);
    expect(await sender.read()).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(sender.problem).toBeUndefined();
  });

  it('reaches a client of a library, which reads while it sends', async () => {
    const { hostname, port } = new URL(service.url);
    const headers = {
      authorization: `Bearer ${service.token}`,
      'content-type': 'application/json',
      'content-length': BODY,
    };
    const path = '/api/v1/tools/call';
    const outgoing = request({ hostname, port, path, method: 'POST', agent: false, headers });
    const answered = once(outgoing, 'response');
    const problems: Error[] = [];
    outgoing.on('error', (problem) => problems.push(problem));
    outgoing.write(PIECE);
    const [response] = (await answered) as [{ statusCode: number; resume: () => void }];
    expect([response.statusCode, problems]).toEqual([413, []]);
    outgoing.destroy();
  });

  it('keeps the connection of a client that was refused for another reason', async () => {
    const first = head('/api/v1/aggregator/servers', [`content-length: 70000`], 'wrong');
    const sender = await Sender.open(service, first);
    sender.listen();
    await eventually(() => expect(sender.answers).toEqual(['HTTP/1.1 401']));
    sender.write('x'.repeat(70_000));
    sender.write('GET /health/live HTTP/1.1\r\nhost: localhost\r\n\r\n');
    await eventually(() => expect(sender.answers).toEqual(['HTTP/1.1 401', 'HTTP/1.1 200']));
    expect(sender.hasEnded).toBe(false);
    sender.close();
  });

  it('does not carry out a request that follows on the connection', async () => {
    const call = '{"id":"hidden","name":"Hidden","description":"hidden"}';
    const sender = await Sender.open(service, head('/api/v1/tools/call', [chunked]));
    await sender.send(LIMIT * 2, true);
    sender.write(`${head('/api/v1/aggregator/skills', [`content-length: ${call.length}`])}${call}`);
    await sender.read();
    expect(sender.answers).toEqual(['HTTP/1.1 413']);
    const path = '/api/v1/aggregator/skills?limit=500';
    expect((await send(service.url, path, { token: service.token })).text).not.toContain(
      '"hidden"',
    );
  });
});
