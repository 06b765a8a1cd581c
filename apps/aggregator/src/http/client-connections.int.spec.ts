import type { ClientLimits } from '@app/platform';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { eventually } from '../../../../test/support/eventually.js';
import { ClientConnections } from './client-connections.js';

let server: Server;
let connections: ClientConnections;
let answers: ServerResponse[];
const sockets: Socket[] = [];

async function start(max: number): Promise<void> {
  answers = [];
  server = createServer((_request, response) => answers.push(response));
  const limits: Pick<ClientLimits, 'note'> = { note: () => undefined };
  connections = new ClientConnections(
    server,
    max,
    limits as ClientLimits,
    (url) => url !== '/file',
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
}

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** Connects from that loopback address. */
function open(localAddress: string): Promise<Socket> {
  const { port } = server.address() as AddressInfo;
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  sockets.push(socket);
  socket.on('error', () => undefined).on('data', () => undefined);
  return new Promise((resolve) => socket.once('connect', () => resolve(socket)));
}
const request = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';
const isOpen = (socket: Socket): boolean => !socket.destroyed;

describe(ClientConnections.name, () => {
  it('accepts an address without connections by closing one of the address with the most', async () => {
    await start(4);
    const many = await Promise.all(Array.from({ length: 4 }, () => open('127.0.0.2')));
    await eventually(async () => {
      expect(await new Promise((resolve) => server.getConnections((_, n) => resolve(n)))).toBe(4);
    });
    const one = await open('127.0.0.3');
    one.write(request);
    await eventually(() => expect(answers).toHaveLength(1));
    await eventually(() => expect(many.filter(isOpen)).toHaveLength(3));
    expect(isOpen(one)).toBe(true);
  });

  it('does not let an address with most of them in further while all are at work', async () => {
    await start(2);
    const [first, second] = [await open('127.0.0.2'), await open('127.0.0.2')];
    first.write(request);
    second.write(request);
    await eventually(() => expect(answers).toHaveLength(2));
    const third = await open('127.0.0.2');
    await eventually(() => expect(isOpen(third)).toBe(false));
    expect([first, second].map(isOpen)).toEqual([true, true]);
  });

  it('cuts a connection with more requests than may wait for their answers', async () => {
    await start(10);
    const flood = await open('127.0.0.2');
    flood.write(request.repeat(1_000));
    await eventually(() => expect(isOpen(flood)).toBe(false));
    await eventually(() => expect(connections.outstanding).toBe(0));
  });

  it('answers as many as may wait, in their order', async () => {
    await start(10);
    const client = await open('127.0.0.2');
    let text = '';
    client.on('data', (part: Buffer) => (text += part.toString()));
    client.write(request.repeat(64));
    await eventually(() => expect(answers).toHaveLength(64));
    answers.forEach((response, i) => response.end(`<${i}>`));
    await eventually(() => expect(text).toContain('<63>'));
    expect(text.indexOf('<62>')).toBeLessThan(text.indexOf('<63>'));
    await eventually(() => expect(connections.outstanding).toBe(0));
  });

  it('waits at its end for answers, and for no files', async () => {
    await start(10);
    const [reader, caller] = [await open('127.0.0.2'), await open('127.0.0.3')];
    reader.write(request.replace('GET /', 'GET /file'));
    caller.write(request);
    await eventually(() => expect(answers).toHaveLength(2));
    expect(connections.outstanding).toBe(1);
    connections.end(60_000);
    expect([reader, caller].map(isOpen)).toEqual([true, true]);
    answers.find(({ req }) => req.url === '/')?.end('done');
    await eventually(() => expect([reader, caller].map(isOpen)).toEqual([false, false]));
    expect(connections.outstanding).toBe(0);
  });

  it('aborts queued answers when the client disconnects', async () => {
    await start(10);
    const client = await open('127.0.0.2');
    client.write(request.repeat(3));
    await eventually(() => expect(answers).toHaveLength(3));
    let gone = 0;
    for (const response of answers) response.once('close', () => (gone += 1));
    client.destroy();
    await eventually(() => expect(gone).toBe(3));
    expect(connections.outstanding).toBe(0);
  });
});
