import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { eventually } from '../../../../../test/support/eventually.js';
import { TEST_CERTIFICATE, TEST_KEY } from '../../../../../test/support/tls.js';
import { ExchangeFailed, HttpExchange } from '../http-exchange.js';
import { HttpPool } from './http-pool.js';

const answer = (body: string, fields = ''): string =>
  `HTTP/1.1 200 OK\r\n${fields}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

const servers: Server[] = [];
const pools: HttpPool[] = [];
let sockets: Socket[] = [];
let requests: string[] = [];

/** What it does with each request, and on which of its connections that came. */
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

function poolOf(url: string, connectTimeoutMs = 2_000): HttpPool {
  const pool = new HttpPool(new URL(url), connectTimeoutMs);
  pools.push(pool);
  return pool;
}

function ask(pool: HttpPool, path: string, headers = '', body = '{}'): HttpExchange {
  const request = { method: 'POST', path, headers, body } as const;
  const handlers = { onEvent: () => undefined, onOversized: () => undefined };
  return new HttpExchange(pool, request, 1_000_000, handlers);
}

async function textOf(exchange: HttpExchange): Promise<string> {
  return (await exchange.done).body.toString();
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

  it('one after the other on one', async () => {
    const pool = await serve(echo);
    for (const path of ['/1', '/2', '/3']) expect(await textOf(ask(pool, path))).toBe(path);
    expect(sockets).toHaveLength(1);
  });

  it('no two on one at the same time, and no more than 256 connections', async () => {
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
      'that the server closes, as it said',
      (socket: Socket, path: string) => {
        socket.end(answer(path, 'connection: close\r\n'));
      },
    ],
    [
      'that the server closes without a word',
      (socket: Socket, path: string) => {
        socket.end(answer(path));
      },
    ],
    [
      'of a server that waits for nobody',
      (socket: Socket, path: string) => {
        socket.write(answer(path, 'keep-alive: timeout=0\r\n'));
      },
    ],
    [
      'on which the server went on speaking',
      (socket: Socket, path: string) => {
        socket.write(`${answer(path)}HTTP/1.1 200 OK\r\n\r\n`);
      },
    ],
    [
      'whose answer ended with it',
      (socket: Socket, path: string) => {
        socket.end(`HTTP/1.1 200 OK\r\n\r\n${path}`);
      },
    ],
  ])('never one %s', async (_name, behaviour) => {
    const pool = await serve(behaviour);
    for (const path of ['/1', '/2']) expect(await textOf(ask(pool, path))).toBe(path);
    expect(sockets).toHaveLength(2);
  });
});

describe('a request', () => {
  it('arrives as it was written, with headers beyond ASCII and any body', async () => {
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

  it('whose answer is no HTTP may have been executed', async () => {
    const pool = await serve((socket) => socket.write('220 mail.example.org ESMTP\r\n\r\n'));
    await expect(ask(pool, '/').done).rejects.toMatchObject({
      reason: 'broken',
      sent: true,
      message: 'its answer is not HTTP: no status line',
    });
  });

  it('that nobody listens for was never sent', async () => {
    const pool = await serve(() => undefined);
    await new Promise((done) => servers.pop()?.close(done));
    const asked = ['/1', '/2', '/3'].map((path) => ask(pool, path).done);
    for (const { status, reason } of await settled(asked)) {
      expect(status).toBe('rejected');
      expect(reason).toMatchObject({ reason: 'unreachable', sent: false, message: 'ECONNREFUSED' });
    }
  });

  it('that finds no connection in time was never sent', async () => {
    // It takes the connection and never says anything: no TLS comes about.
    const pool = await serve(() => undefined);
    const secured = poolOf(`https://${pool.host}`, 50);
    await expect(ask(secured, '/').done).rejects.toMatchObject({
      reason: 'unreachable',
      sent: false,
      message: 'no connection within 0.05 s',
    });
  });

  it('that is given up ends its connection, and no other', async () => {
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

  it('that is given up before it is sent never is', async () => {
    const pool = await serve((socket, path) => socket.write(answer(path)));
    const early = ask(pool, '/early');
    early.abort();
    await expect(early.done).rejects.toBeInstanceOf(ExchangeFailed);
    expect(await textOf(ask(pool, '/late'))).toBe('/late');
    expect(requests.map((text) => text.split(' ')[1])).toEqual(['/late']);
  });

  it('of a pool that was ended fails at once', async () => {
    const pool = await serve(() => undefined);
    const waiting = ask(pool, '/1');
    pool.destroy();
    await expect(waiting.done).rejects.toMatchObject({ sent: false });
    await expect(ask(pool, '/2').done).rejects.toMatchObject({ sent: false });
  });
});

describe('over TLS', () => {
  it('a server whose certificate nobody vouches for is asked nothing, and the reason is said', async () => {
    const pool = await serve((socket, path) => socket.write(answer(path)), true);
    await expect(ask(pool, '/').done).rejects.toMatchObject({
      sent: false,
      message: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    });
    expect(requests).toEqual([]);
  });
});

async function settled(
  promises: readonly Promise<unknown>[],
): Promise<{ status: string; reason?: unknown }[]> {
  return Promise.allSettled(promises);
}
