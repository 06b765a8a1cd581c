import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { eventually } from '../../../../test/support/eventually.js';
import { bridgeStdio } from './stdio-bridge.js';

let server: Server;
let input: PassThrough;
let written: Record<string, unknown>[];
let ended: Promise<void>;
let calls: ServerResponse[];
let bodies: string[];

beforeEach(async () => {
  calls = [];
  bodies = [];
  server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => (body += part));
    request.on('end', () => {
      bodies.push(body);
      calls.push(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  input = new PassThrough();
  written = [];
  const output = new PassThrough();
  output.on('data', (line: Buffer) => {
    written.push(JSON.parse(line.toString()) as Record<string, unknown>);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  ended = bridgeStdio({ input, output, url, token: undefined });
});

afterEach(async () => {
  input.end();
  server.closeAllConnections();
  await ended;
  await new Promise((resolve) => server.close(resolve));
});

const call = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'wait' } };

async function arrived(): Promise<ServerResponse> {
  input.write(`${JSON.stringify(call)}\n`);
  return eventually(() => {
    const [response] = calls;
    if (!response) throw new Error('nothing arrived');
    return response;
  });
}
const unknown = { id: 7, error: { data: { outcome: 'unknown' } } };

describe(bridgeStdio.name, () => {
  it('answers what was asked before the client closed its end', async () => {
    const response = await arrived();
    input.end();
    const answer = { jsonrpc: '2.0', id: 7, result: { content: [] } };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    await ended;
    expect(written).toEqual([answer]);
  });

  it('reports a stream that ends without the answer', async () => {
    const response = await arrived();
    response
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .end('data: {"jsonrpc":"2.0","method":"notifications/progress","params":{}}\n\n');
    await eventually(() => expect(written.at(-1)).toMatchObject(unknown));
  });

  it.each([
    ['is empty', (response: ServerResponse) => response.writeHead(200).end()],
    ['is cut', (response: ServerResponse) => response.destroy()],
  ])('says that the outcome is unknown when the answer %s', async (_, end) => {
    end(await arrived());
    await eventually(() => expect(written).toMatchObject([unknown]));
  });

  it('expects no answer to what the client has cancelled', async () => {
    const response = await arrived();
    const params = { requestId: 7 };
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params };
    input.write(`${JSON.stringify(cancel)}\n`);
    await eventually(() => expect(response.destroyed).toBe(true));
    input.end();
    await ended;
    expect(written).toEqual([]);
  });

  /** Unicode calls each a line end, JSON none. Node 24's readline splits at the first two. */
  const odd = 'a\u2028b\u2029c\u0085d';

  it.each([
    ['application/json', (json: string) => json],
    ['text/event-stream', (json: string) => `data: ${json}\n\n`],
  ])('splits lines at LF only, also in answers of %s', async (type, framed) => {
    const asked = JSON.stringify({ ...call, params: { name: 'wait', arguments: { odd } } });
    for (const byte of Buffer.from(`${asked}\n`)) input.write(Buffer.of(byte));
    await eventually(() => expect(calls).toHaveLength(1));
    expect(bodies).toEqual([asked]);
    const answer = { jsonrpc: '2.0', id: 7, result: { content: [{ type: 'text', text: odd }] } };
    calls[0]?.writeHead(200, { 'content-type': type }).end(framed(JSON.stringify(answer)));
    await eventually(() => expect(written).toEqual([answer]));
    input.end();
    await ended;
    expect(written).toEqual([answer]);
  });
});
