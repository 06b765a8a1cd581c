import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  request as httpRequest,
  type RequestListener,
} from 'node:http';
import { randomUUID } from 'node:crypto';
import { testEnv } from '../../../../test/support/env.js';
import { Clock } from '../work/clock.js';
import { ClusterKeys } from './cluster-keys.js';
import type { ControlConnection } from './control-connection.js';
import { Passes } from './passes.js';
import { PassingOn } from './passing-on.js';
import { PeerPulse } from './peer-pulse.js';
import { PeerRequests } from './peer-requests.js';
import { type Peer, Peers } from './peers.js';

const env = testEnv('unused', { MCP_CREDENTIAL_KEY: 'a-key-for-this-test-only' });
const never = new AbortController().signal;

describe('a replica that may stand still', () => {
  const closing: (() => unknown)[] = [];
  let peers: Peers;
  let pulse: PeerPulse;
  let passing: PassingOn;

  beforeEach(() => {
    const control = { isNeeded: true } as ControlConnection;
    const clock = new Clock();
    peers = new Peers(control, clock, env);
    const passes = new Passes(new ClusterKeys(env), peers);
    const requests = new PeerRequests(passes);
    pulse = new PeerPulse(peers, requests, clock);
    passing = new PassingOn(peers, passes, pulse);
    closing.push(
      () => requests.onApplicationShutdown(),
      () => passing.onApplicationShutdown(),
    );
  });
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });

  async function listen(listener: RequestListener): Promise<string> {
    const server = createServer(listener).listen(0, '127.0.0.1');
    await once(server, 'listening');
    closing.push(() => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    });
    const address = server.address();
    return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
  }
  /** A replica that answers with this, or not at all. */
  async function peer(answers: () => object | undefined): Promise<Peer & { paths: string[] }> {
    const paths: string[] = [];
    const url = await listen((request, response) => {
      paths.push(request.url ?? '');
      const answer = answers();
      if (answer) response.end(JSON.stringify(answer));
    });
    const id = randomUUID();
    const known = [...peers.others, { id, url }].map((one) => ({ ...one, seen: '1', age_ms: 0 }));
    peers.learn(known, undefined);
    return { id, url, paths };
  }

  it('is awake when it answers, and not asked again right after', async () => {
    const one = await peer(() => ({ leads: false }));
    expect(await pulse.of(one, 1_000, never)).toBe('answers');
    expect(peers.isAwake(one.id)).toBe(true);
    peers.heard(one.id);
    expect(await pulse.of(one, 1_000, never)).toBe('answers');
    expect(one.paths).toHaveLength(1);
  });

  it('is asked once for all who wait', async () => {
    const one = await peer(() => ({ leads: false }));
    const asked = Array.from({ length: 50 }, () => pulse.of(one, 1_000, never));
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['answers']));
    expect(one.paths).toHaveLength(1);
  });

  it('is asked until it answers', async () => {
    let isAwake = false;
    const one = await peer(() => (isAwake ? { leads: false } : undefined));
    const asked = pulse.of(one, 60_000, never);
    await pulse.askOnce(one);
    isAwake = true;
    expect(await asked).toBe('answers');
  });

  it('is silent for those who wait no longer', async () => {
    const one = await peer(() => undefined);
    const leaving = new AbortController();
    const asked = pulse.of(one, 60_000, leaving.signal);
    leaving.abort();
    expect(await asked).toBe('silent');
  });

  it('refuses when no process listens there any more', async () => {
    const one = { id: randomUUID(), url: 'http://127.0.0.1:1' };
    expect(await pulse.of(one, 60_000, never)).toBe('refuses');
  });

  it.each([
    ['is awake with a version that has no pulse', 404, 'answers'],
    ['refuses when another process has its address', 409, 'refuses'],
    ['is silent when a proxy answers in its place', 502, 'silent'],
  ])('%s', async (_, status, expected) => {
    const url = await listen((_, response) => response.writeHead(status).end('{}'));
    expect(await pulse.askOnce({ id: randomUUID(), url })).toBe(expected);
  });

  it('is asked for no longer than its caller waits', async () => {
    const one = await peer(() => undefined);
    expect(await pulse.of(one, 50, never)).toBe('silent');
  });

  it('is found among others as the one that leads', async () => {
    await peer(() => ({ leads: false }));
    const leader = await peer(() => ({ leads: true }));
    await peer(() => ({ leads: 'yes' }));
    expect(await pulse.leader()).toBe(leader.id);
  });

  /** A client whose request is passed on; resolves with what it was answered. */
  async function passed(
    to: Peer,
    target = '/mcp',
    onHeld = (): void => undefined,
  ): Promise<{ status: number | undefined; failure: string | undefined }> {
    let failure: string | undefined;
    const entry = await listen((request, response) => {
      const principal = { name: 'ada', scopes: ['call' as const], subjects: [] };
      const sender = { principal, ip: null, requestId: 'one' };
      passing.pass(to, { request, response, sender }, (why) => {
        failure = why;
        response.writeHead(404).end();
      });
      onHeld();
    });
    const { hostname, port } = new URL(entry);
    const sent = httpRequest({ hostname, port, path: target, method: 'POST' }).end('{"a":1}');
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    answer.resume();
    return { status: answer.statusCode, failure };
  }

  it('gets no request while it is silent, and its clients hear when it is gone', async () => {
    const one = await peer(() => undefined);
    const answered = passed(one, '/mcp', () => peers.learn([], undefined));
    expect(await answered).toEqual({ status: 404, failure: 'gone' });
    expect(new Set(one.paths)).toEqual(new Set(['/mcp/replicas/pulse']));
  });

  it.each(['http://HOST/mcp', '//HOST/mcp'])(
    'gets a request whose target names another host: %s',
    async (target) => {
      const asked: (string | undefined)[] = [];
      const foreign = await listen((_, response) => {
        asked.push('the other host');
        response.end();
      });
      const one = await peer(() => ({ leads: false }));
      const named = target.replace('HOST', new URL(foreign).host);
      expect(await passed(one, named)).toEqual({ status: 200, failure: undefined });
      expect(asked).toEqual([]);
      expect(one.paths).toHaveLength(2);
    },
  );

  it('gets the whole request when it is awake', async () => {
    const bodies: string[] = [];
    const url = await listen((request, response) => {
      let body = '';
      request.on('data', (chunk) => (body += String(chunk)));
      request.on('end', () => {
        if (request.method === 'POST') bodies.push(body);
        response.end('{"leads":false}');
      });
    });
    expect(await passed({ id: randomUUID(), url })).toEqual({ status: 200, failure: undefined });
    expect(bodies).toEqual(['{"a":1}']);
  });

  it('streams to a client until the token of the client is over', async () => {
    let isOver = false;
    const url = await listen((request, response) => {
      if (request.url !== '/mcp') return void response.end('{"leads":false}');
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    });
    const to = { id: randomUUID(), url };
    const entry = await listen((request, response) => {
      const principal = { name: 'ada', scopes: ['call' as const], subjects: [] };
      const sender = { principal, ip: null, requestId: 'one' };
      const exchange = { request, response, sender, isOver: () => isOver };
      passing.pass(to, exchange, () => response.destroy());
    });
    const open = async (): Promise<IncomingMessage> => {
      const [answer] = (await once(httpRequest(`${entry}/mcp`).end(), 'response')) as [
        IncomingMessage,
      ];
      return answer.resume();
    };
    const [one, other] = [await open(), await open()];
    const ends = [one, other].map((answer) => once(answer, 'end'));
    passing.endOver();
    expect(passing.standingStreams).toBe(2);
    isOver = true;
    passing.endOver();
    await Promise.all(ends);
    expect(passing.standingStreams).toBe(0);
  });
});
