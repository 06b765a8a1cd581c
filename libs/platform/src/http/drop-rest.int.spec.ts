import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { eventually } from '../../../../test/support/eventually.js';
import { type DropLimits, dropRest, isStillSending } from './drop-rest.js';

describe(dropRest.name, () => {
  let server: Server;
  const sockets: Socket[] = [];
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
    server.close();
  });

  /** A client of a server that answers 413 as soon as it has the headers. */
  async function refused(limits: DropLimits, headers: string): Promise<Socket> {
    server = createServer((request, response) => {
      dropRest(request, limits);
      response.writeHead(413, { connection: headers.includes('keep-alive') ? '' : 'close' });
      response.end('too much');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => undefined);
    sockets.push(socket);
    socket.write(`POST / HTTP/1.1\r\nhost: x\r\n${headers}\r\n\r\n`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toContain('413');
    return socket;
  }
  const openConnections = (): Promise<number> =>
    new Promise((resolve) => server.getConnections((_, count) => resolve(count)));

  it.each(['content-length: 1000000', 'content-length: 1000000\r\nconnection: keep-alive'])(
    'closes the connection of a client that sends too slowly (%s)',
    async (headers) => {
      const client = await refused({ bytes: 1_000_000, ms: 50 }, headers);
      client.write('x');
      await eventually(async () => expect(await openConnections()).toBe(0));
    },
  );

  it.each(['content-length: 1000000', 'transfer-encoding: chunked'])(
    'closes the connection of a client that sends more than is dropped (%s)',
    async (headers) => {
      const client = await refused({ bytes: 1_000, ms: 600_000 }, headers);
      client.write(headers.includes('chunked') ? `800\r\n${'x'.repeat(2_048)}` : 'x'.repeat(2_048));
      await eventually(async () => expect(await openConnections()).toBe(0));
    },
  );

  it('ends with the body, also when the client sends nothing more', async () => {
    const client = await refused({ bytes: 1_000, ms: 600_000 }, 'content-length: 3');
    const ended = once(client, 'end');
    client.write('xxx');
    await ended;
    await eventually(async () => expect(await openConnections()).toBe(0));
  });

  it('ends when the client disconnects', async () => {
    const client = await refused({ bytes: 1_000, ms: 600_000 }, 'content-length: 300');
    client.end();
    await eventually(async () => expect(await openConnections()).toBe(0));
  });
});

describe(isStillSending.name, () => {
  const incoming = (complete: boolean, headers: Record<string, string>): IncomingMessage =>
    ({ complete, headers }) as unknown as IncomingMessage;

  it.each([
    [false, { 'content-length': '1' }, true],
    [false, { 'transfer-encoding': 'chunked' }, true],
    [true, { 'content-length': '1' }, false],
    [false, { 'content-length': '0' }, false],
    [false, {}, false],
  ])('complete: %s, headers %j: %s', (complete, headers, expected) => {
    expect(isStillSending(incoming(complete, headers as Record<string, string>))).toBe(expected);
  });
});
