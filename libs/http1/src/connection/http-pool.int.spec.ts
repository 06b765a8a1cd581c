import { UNCOUNTED } from '@app/platform';
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { eventually } from '../../../../test/support/eventually.js';
import { TEST_CERTIFICATE, TEST_KEY } from '../../../../test/support/tls.js';
import { RequestFailed, HttpRequest } from '../request/http-request.js';
import { HttpPool } from './http-pool.js';

const answer = (body: string, fields = ''): string =>
  `HTTP/1.1 200 OK\r\n${fields}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

const servers: Server[] = [];
const pools: HttpPool[] = [];
let sockets: Socket[] = [];
let requests: string[] = [];
/** The clock of the pools. */
let time = 0;

/** A server with a behaviour per request; records the connection of each request. */
type Behaviour = (socket: Socket, path: string, connection: number) => void;

async function serve(behaviour: Behaviour, isSecure = false): Promise<HttpPool> {
  const accept = (socket: Socket): void => {
    sockets.push(socket);
    const connection = sockets.length;
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      const text = bytes.toString('latin1');
      requests.push(text);
      behaviour(socket, text.split(' ')[1] ?? '', connection);
    });
  };
  const server = isSecure
    ? createTlsServer({ key: TEST_KEY, cert: TEST_CERTIFICATE }, accept)
    : createServer(accept);
  servers.push(server);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return poolOf(`${isSecure ? 'https' : 'http'}://localhost:${port}`);
}

function poolOf(url: string, connectTimeoutMs = 60_000): HttpPool {
  const pool = new HttpPool(new URL(url), connectTimeoutMs, undefined, undefined, () => time);
  pools.push(pool);
  return pool;
}

function ask(pool: HttpPool, path: string, headers = '', body = '{}'): HttpRequest {
  const request = { method: 'POST', path, headers, body } as const;
  const handlers = { onEvent: () => undefined, onOversized: () => undefined };
  return new HttpRequest(pool, request, { maxBytes: 1_000_000, room: UNCOUNTED }, handlers);
}

async function textOf(request: HttpRequest): Promise<string> {
  return (await request.done).body.toString();
}

afterEach(async () => {
  for (const pool of pools.splice(0)) pool.destroy();
  for (const socket of sockets) socket.destroy();
  sockets = [];
  requests = [];
  await Promise.all(servers.splice(0).map((server) => new Promise((done) => server.close(done))));
});

describe('requests share connections', () => {
  const echo: Behaviour = (socket, path) => socket.write(answer(path));

  it('sequential requests use one connection', async () => {
    const pool = await serve(echo);
    for (const path of ['/1', '/2', '/3']) expect(await textOf(ask(pool, path))).toBe(path);
    expect(sockets).toHaveLength(1);
  });

  it.each([10, 5_000, 70_000])(
    'an answer of %s bytes that another follows, which no request asked for, ends its connection',
    async (length) => {
      const body = 'x'.repeat(length);
      const pool = await serve((socket, path, connection) => {
        socket.write(connection === 1 ? answer(body) + answer('forged') : answer(path));
      });
      expect(await textOf(ask(pool, '/1'))).toBe(body);
      expect(await textOf(ask(pool, '/2'))).toBe('/2');
      expect(sockets).toHaveLength(2);
    },
  );

  it('concurrent requests use separate connections, at most 256', async () => {
    const held: (() => void)[] = [];
    const pool = await serve((socket, path) => held.push(() => socket.write(answer(path))));
    const paths = Array.from({ length: 300 }, (_, i) => `/${i}`);
    const answers = Promise.all(paths.map((path) => textOf(ask(pool, path))));
    await eventually(() => expect(held).toHaveLength(256));
    for (const release of held.splice(0)) release();
    await eventually(() => expect(held).toHaveLength(44));
    for (const release of held.splice(0)) release();
    expect(await answers).toEqual(paths);
    expect(sockets.length).toBeLessThanOrEqual(256);
  });

  it.each([
    [
      'that the server closes after connection: close',
      (socket: Socket, path: string) => {
        socket.end(answer(path, 'connection: close\r\n'));
      },
    ],
    [
      'that the server closes without notice',
      (socket: Socket, path: string) => {
        socket.end(answer(path));
      },
    ],
    [
      'of a server with a keep-alive timeout of 0',
      (socket: Socket, path: string) => {
        socket.write(answer(path, 'keep-alive: timeout=0\r\n'));
      },
    ],
    [
      'on which the server sent data without a request',
      (socket: Socket, path: string) => {
        socket.write(`${answer(path)}HTTP/1.1 200 OK\r\n\r\n`);
      },
    ],
    [
      'whose answer ended with the connection',
      (socket: Socket, path: string) => {
        socket.end(`HTTP/1.1 200 OK\r\n\r\n${path}`);
      },
    ],
  ])('never a connection %s', async (_name, behaviour) => {
    const pool = await serve(behaviour);
    for (const path of ['/1', '/2']) expect(await textOf(ask(pool, path))).toBe(path);
    expect(sockets).toHaveLength(2);
  });
});

describe('a server that closes connections after 5 s without a request', () => {
  const KEEP_ALIVE = 'keep-alive: timeout=5\r\n';
  let answerNow: () => void;
  let pool: HttpPool;
  beforeEach(async () => {
    pool = await serve((socket, path) => {
      answerNow = () => socket.write(answer(path, KEEP_ALIVE));
    });
  });
  /** `heldMs`: from when the request is sent until its answer is read. */
  const askFor = async (path: string, heldMs: number): Promise<void> => {
    const before = requests.length;
    const asked = ask(pool, path);
    await eventually(() => expect(requests.length).toBe(before + 1));
    time += heldMs;
    answerNow();
    expect(await textOf(asked)).toBe(path);
  };

  it('gets the next request on the same connection within 4 s', async () => {
    await askFor('/1', 1_000);
    time += 2_900;
    await askFor('/2', 0);
    expect(sockets).toHaveLength(1);
  });

  it.each([
    ['after 4 s of silence', 0, 4_000],
    ['when its answer was read late, as it may be idle for long', 3_000, 1_000],
    ['at once after an answer that took longer than it waits', 60_000, 0],
  ])('gets the next request on another connection %s', async (_name, heldMs, silenceMs) => {
    await askFor('/1', heldMs);
    time += silenceMs;
    await askFor('/2', 0);
    await askFor('/3', 0);
    expect(sockets).toHaveLength(2);
  });
});

describe('a request', () => {
  it('arrives as it was written, with non-ASCII headers and any body', async () => {
    const pool = await serve((socket) => socket.write(answer('')));
    await ask(pool, '/a?b=c', 'x-name: J\u00fcrgen\r\n', '{"a":"\u20ac"}').done;
    const [request] = requests;
    expect(request).toBe(
      `POST /a?b=c HTTP/1.1\r\nhost: ${pool.host}\r\nx-name: J\u00fcrgen\r\ncontent-length: 11\r\n\r\n` +
        Buffer.from('{"a":"\u20ac"}').toString('latin1'),
    );
  });

  it('whose connection breaks may have been executed', async () => {
    const pool = await serve((socket) => socket.resetAndDestroy());
    await expect(ask(pool, '/').done).rejects.toMatchObject({ reason: 'broken', sent: true });
  });

  it('whose answer is not HTTP may have been executed', async () => {
    const pool = await serve((socket) => socket.write('220 mail.example.org ESMTP\r\n\r\n'));
    await expect(ask(pool, '/').done).rejects.toMatchObject({
      reason: 'broken',
      sent: true,
      message: 'its answer is not HTTP: no status line',
    });
  });

  it('to a closed port was never sent', async () => {
    const pool = await serve(() => undefined);
    await new Promise((done) => servers.pop()?.close(done));
    const asked = ['/1', '/2', '/3'].map((path) => ask(pool, path).done);
    for (const { status, reason } of await settled(asked)) {
      expect(status).toBe('rejected');
      expect(reason).toMatchObject({
        reason: 'unreachable',
        sent: false,
        message: 'Connection refused (ECONNREFUSED)',
      });
    }
  });

  it('that gets no connection in time was never sent', async () => {
    // The server accepts the connection and never answers, so the TLS handshake does not complete.
    const pool = await serve(() => undefined);
    const secured = poolOf(`https://${pool.host}`, 50);
    await expect(ask(secured, '/').done).rejects.toMatchObject({
      reason: 'unreachable',
      sent: false,
      message: 'no connection within 0.05 s',
    });
  });

  it('that is aborted closes its connection, and no other', async () => {
    const pool = await serve((socket, path) => {
      if (path !== '/mute') socket.write(answer(path));
    });
    const mute = ask(pool, '/mute');
    await eventually(() => expect(requests).toHaveLength(1));
    expect(await textOf(ask(pool, '/other'))).toBe('/other');
    mute.abort();
    await expect(mute.done).rejects.toMatchObject({ reason: 'aborted' });
    await eventually(() => expect(sockets[0]?.destroyed).toBe(true));
    expect(await textOf(ask(pool, '/other'))).toBe('/other');
    expect(sockets).toHaveLength(2);
  });

  it('that is aborted before it is sent is never sent', async () => {
    const pool = await serve((socket, path) => socket.write(answer(path)));
    const early = ask(pool, '/early');
    early.abort();
    await expect(early.done).rejects.toBeInstanceOf(RequestFailed);
    expect(await textOf(ask(pool, '/late'))).toBe('/late');
    expect(requests.map((text) => text.split(' ')[1])).toEqual(['/late']);
  });

  it('of a closed pool fails at once', async () => {
    const pool = await serve(() => undefined);
    const waiting = ask(pool, '/1');
    pool.destroy();
    await expect(waiting.done).rejects.toMatchObject({ sent: false });
    await expect(ask(pool, '/2').done).rejects.toMatchObject({ sent: false });
  });
});

describe('over TLS', () => {
  it('a server with an untrusted certificate gets no request, and the error names the reason', async () => {
    const pool = await serve((socket, path) => socket.write(answer(path)), true);
    await expect(ask(pool, '/').done).rejects.toMatchObject({
      sent: false,
      message: 'Certificate is self-signed (DEPTH_ZERO_SELF_SIGNED_CERT)',
    });
    expect(requests).toEqual([]);
  });
});

async function settled(
  promises: readonly Promise<unknown>[],
): Promise<{ status: string; reason?: unknown }[]> {
  return Promise.allSettled(promises);
}
