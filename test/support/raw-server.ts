import { createServer, type Server, type Socket } from 'node:net';

export interface RawRequest {
  readonly method: string;
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A server that sends raw bytes, so that it can send what no library would. One request at a time per connection. */
export class RawServer {
  readonly requests: RawRequest[] = [];
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    readonly origin: string,
  ) {}

  static async start(
    answer: (request: RawRequest, socket: Socket) => void | Promise<void>,
  ): Promise<RawServer> {
    const server = createServer();
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    const address = server.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const raw = new RawServer(server, `http://127.0.0.1:${port}`);
    server.on('connection', (socket) => {
      raw.sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => raw.sockets.delete(socket));
      let text = '';
      socket.on('data', (bytes) => {
        text += bytes.toString('latin1');
        const request = requestIn(text);
        if (!request) return;
        text = '';
        raw.requests.push(request);
        void answer(request, socket);
      });
    });
    return raw;
  }

  get connections(): number {
    return this.sockets.size;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((done) => this.server.close(done));
  }
}

export function httpAnswer(
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string | Buffer = '',
): Buffer {
  const bytes = Buffer.from(body);
  const fields = Object.entries({ 'content-length': String(bytes.length), ...headers });
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} x\r\n${lines}\r\n`, 'latin1'), bytes]);
}

/** Undefined until the message is complete. */
function requestIn(text: string): RawRequest | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [first = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const length = Number(headers['content-length'] ?? 0);
  const body = text.slice(end + 4);
  if (body.length < length) return undefined;
  const [method = '', path = ''] = first.split(' ');
  return { method, path, headers, body: Buffer.from(body, 'latin1').toString('utf8') };
}
