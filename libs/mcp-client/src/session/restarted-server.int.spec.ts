import type { JsonObject } from '@app/platform';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { FaultProxy } from '../../../../test/support/fault-proxy.js';
import { eventually } from '../../../../test/support/eventually.js';
import { type HttpPeer, httpPeer } from '../../../../test/support/peers.js';
import { connectUpstream } from '../connect/connect-upstream.js';
import type { ConnectOptions, UpstreamSession } from '../upstream.js';

const options: ConnectOptions = {
  connectTimeoutMs: 60_000,
  maxAnswerBytes: 10_000_000,
  clientInfo: { name: 'switchboard-test', version: '0' },
  clientCapabilities: {},
  allowInsecureHttp: false,
};

const call = (session: UpstreamSession, name: string, args: JsonObject): Promise<JsonObject> =>
  session.request('tools/call', { name, arguments: args }, { timeoutMs: 60_000 });
const echo = (session: UpstreamSession, text: string): Promise<JsonObject> =>
  call(session, 'echo', { text });
const said = (text: string): unknown =>
  expect.objectContaining({ content: [{ type: 'text', text }] });

const servers = {
  'SDK v1, with sessions': ['peer-v1.mjs', 'http'],
  'SDK v2, with sessions': ['peer-v2.mjs', 'http', 'legacy'],
  'SDK v2, stateless': ['peer-v2.mjs', 'http', 'modern'],
  'SDK v2, of both eras': ['peer-v2.mjs', 'http', 'auto'],
} as const;
type Kind = keyof typeof servers;

/** A session with a server that is replaced by another one at the same address. */
class Restart {
  private constructor(
    readonly session: UpstreamSession,
    private readonly proxy: FaultProxy,
    private readonly peers: readonly HttpPeer[],
  ) {}

  static async from(from: Kind, to: Kind): Promise<Restart> {
    const peers = await Promise.all(
      [from, to].map(async (kind) => {
        const [script, ...args] = servers[kind];
        return httpPeer(script, args);
      }),
    );
    const [first, second] = peers;
    if (!first || !second) throw new Error('unreachable');
    const proxy = await FaultProxy.before(first.url);
    const target = { kind: 'HTTP', url: proxy.urlOf(first.url), headers: {} } as const;
    const session = await connectUpstream(target, options);
    await echo(session, 'before');
    proxy.leadTo(second.url);
    return new Restart(session, proxy, peers);
  }

  async end(): Promise<void> {
    await this.session.close({ force: true });
    await this.proxy.close();
    await Promise.all(this.peers.map((peer) => peer.stop()));
  }
}

describe.each([
  ['SDK v1, with sessions', 'SDK v1, with sessions', 'legacy'],
  ['SDK v1, with sessions', 'SDK v2, stateless', 'modern'],
  ['SDK v2, with sessions', 'SDK v2, stateless', 'modern'],
  // A server of both eras serves the requests of an old session too.
  ['SDK v1, with sessions', 'SDK v2, of both eras', 'legacy'],
  ['SDK v2, stateless', 'SDK v1, with sessions', 'legacy'],
  ['SDK v2, stateless', 'SDK v2, with sessions', 'legacy'],
  ['SDK v2, stateless', 'SDK v2, of both eras', 'modern'],
  ['SDK v2, of both eras', 'SDK v1, with sessions', 'legacy'],
] as const)('a server (%s) restarted as %s', (from, to, era) => {
  let restart: Restart;
  let session: UpstreamSession;

  beforeAll(async () => {
    restart = await Restart.from(from, to);
    ({ session } = restart);
  });
  afterAll(() => restart.end());

  it('answers all calls that notice, in one new session', async () => {
    let renewals = 0;
    session.onRenewal(() => renewals++);
    const words = Array.from({ length: 30 }, (_, i) => `word ${i}`);
    const answers = await Promise.all(words.map((word) => echo(session, word)));
    expect(answers).toEqual(words.map(said));
    expect(renewals).toBeLessThanOrEqual(1);
  });

  it('is used in its era from then on', async () => {
    expect(session.era).toBe(era);
    await expect(session.request('ping', undefined, { timeoutMs: 60_000 })).resolves.toBeDefined();
    const limits = { maxItems: 100, maxPages: 10, timeoutMs: 60_000 };
    const names = (await session.listAll('tools', limits)).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['echo', 'wait']));
    await expect(echo(session, 'after')).resolves.toEqual(said('after'));
    expect(session.pending).toBe(0);
  });
});

describe('a health check of a server that was restarted in the other era', () => {
  it.each([
    ['SDK v1, with sessions', 'SDK v2, stateless', 'modern'],
    ['SDK v2, stateless', 'SDK v1, with sessions', 'legacy'],
  ] as const)('from %s to %s finds out as well', async (from, to, era) => {
    const restart = await Restart.from(from, to);
    await restart.session.request('ping', undefined, { timeoutMs: 60_000 });
    expect(restart.session.era).toBe(era);
    await restart.end();
  });
});

/** A server whose answers the test decides, by the method of the request. */
class ScriptedServer {
  readonly seen: string[] = [];
  answer: (method: string, id: unknown, response: ServerResponse) => void = () => undefined;
  private readonly server: Server;

  constructor() {
    this.server = createServer((request, response) => void this.serve(request, response));
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/mcp`;
  }

  stopListening(): void {
    this.server.close();
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  count(method: string): number {
    return this.seen.filter((one) => one === method).length;
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'POST') return void response.writeHead(405).end();
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const { method, id } = JSON.parse(text) as { method: string; id?: unknown };
    this.seen.push(method);
    if (id === undefined) return void response.writeHead(202).end();
    this.answer(method, id, response);
  }
}

const json = (response: ServerResponse, status: number, body: object): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};
const legacy =
  (onCall: (id: unknown, response: ServerResponse) => void) =>
  (method: string, id: unknown, response: ServerResponse): void => {
    if (method === 'tools/call') return onCall(id, response);
    if (method !== 'initialize') {
      return json(response, 400, {
        jsonrpc: '2.0',
        id: null,
        error: { code: -32_000, message: 'Server not initialized' },
      });
    }
    response.setHeader('mcp-session-id', 'a');
    json(response, 200, {
      jsonrpc: '2.0',
      id,
      result: {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'scripted', version: '1' },
      },
    });
  };
const forgotten = (_id: unknown, response: ServerResponse): void =>
  void response.writeHead(404).end();

describe('a session that the server lost', () => {
  let server: ScriptedServer;
  let session: UpstreamSession;

  beforeEach(async () => {
    server = new ScriptedServer();
    server.answer = legacy(forgotten);
    const url = await server.listen();
    session = await connectUpstream({ kind: 'HTTP', url, headers: {} }, options);
  });
  afterEach(async () => {
    server.close();
    await session.close({ force: true });
  });

  it('is waited for as long as the call may wait, when the new handshake hangs', async () => {
    server.answer = (method, _id, response) => {
      if (method === 'tools/call') response.writeHead(404).end();
    };
    const params = { name: 'echo', arguments: {} };
    const waiting = session.request('tools/call', params, { timeoutMs: 60_000, renewWithinMs: 50 });
    await expect(waiting).rejects.toMatchObject({ executed: 'no', waitedMs: expect.any(Number) });
    expect(server.count('tools/call')).toBe(1);
  });

  it('ends with all waiting calls when no new session opens within 5 s', async () => {
    server.answer = (method, _id, response) => {
      if (method === 'tools/call') response.writeHead(404).end();
    };
    const calls = Array.from({ length: 10 }, () => echo(session, 'x'));
    const told = Promise.all(
      calls.map((one) => expect(one).rejects.toMatchObject({ executed: 'no' })),
    );
    await expect(session.closed).resolves.toMatchObject({ cause: 'lost' });
    await told;
    expect(server.count('initialize') + server.count('server/discover')).toBeLessThanOrEqual(4);
  });

  it('is negotiated a bounded number of times when the server refuses every era', async () => {
    server.answer = (method, id, response) => {
      if (method !== 'tools/call') return legacy(forgotten)(method, id, response);
      const error = { code: -32_022, message: 'Unsupported protocol version' };
      json(response, 400, { jsonrpc: '2.0', id, error });
    };
    await expect(echo(session, 'x')).rejects.toBeDefined();
    expect(server.count('tools/call')).toBeLessThanOrEqual(3);
  });

  it('is not inferred from a server that refuses the arguments of a call', async () => {
    server.answer = legacy((id, response) => {
      const error = { code: -32_602, message: 'session must be a number' };
      json(response, 422, { jsonrpc: '2.0', id, error });
    });
    await expect(echo(session, 'x')).rejects.toMatchObject({ rpc: { code: -32_602 } });
    expect([server.count('initialize'), server.count('tools/call')]).toEqual([1, 1]);
  });

  it('a pending call has an unknown outcome when another call finds the server gone', async () => {
    let answers = 0;
    server.answer = legacy(() => answers++);
    const running = expect(echo(session, 'runs')).rejects.toMatchObject({ executed: 'unknown' });
    await eventually(() => expect(answers).toBe(1));
    server.stopListening();
    const late = expect(echo(session, 'late')).rejects.toMatchObject({ executed: 'no' });
    await late;
    await running;
  });
});
