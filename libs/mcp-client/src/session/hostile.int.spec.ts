import type { JsonObject } from '@app/platform';
import { FaultProxy } from '../../../../test/support/fault-proxy.js';
import { eventually } from '../../../../test/support/eventually.js';
import { fixture, type HttpPeer, httpPeer, processesWith } from '../../../../test/support/peers.js';
import { setImmediate as turn } from 'node:timers/promises';
import { connectUpstream } from '../connect/connect-upstream.js';
import type { ConnectOptions, UpstreamSession, UpstreamTarget } from '../upstream.js';
import { ConnectionLost } from '../upstream.errors.js';

const options: ConnectOptions = {
  connectTimeoutMs: 60_000,
  maxAnswerBytes: 100_000,
  clientInfo: { name: 'switchboard-test', version: '0' },
  clientCapabilities: {},
  allowInsecureHttp: false,
};
const MARK = `SWITCHBOARD_TEST_MARK=hostile-${process.pid}-${Date.now()}`;
const [markName = '', markValue = ''] = MARK.split('=');

type Behaviour = Readonly<Record<string, unknown>>;

const call = (
  session: UpstreamSession,
  name: string,
  args: JsonObject = {},
  timeoutMs = 60_000,
): Promise<JsonObject> => session.request('tools/call', { name, arguments: args }, { timeoutMs });
const said = (text: string): object => ({ content: [{ type: 'text', text }] });

/** Keeps the event loop busy. */
function busyFor(ms: number): void {
  const startedAt = performance.now();
  while (performance.now() - startedAt < ms);
}

function stdio(behaviour: Behaviour): UpstreamTarget {
  return {
    kind: 'STDIO',
    command: process.execPath,
    args: [fixture('hostile.mjs'), 'stdio', JSON.stringify(behaviour)],
    env: { [markName]: markValue },
  };
}

const peers: HttpPeer[] = [];
const proxies: FaultProxy[] = [];
const sessions: UpstreamSession[] = [];

async function peer(kind: 'http' | 'sse', behaviour: Behaviour): Promise<HttpPeer> {
  const started = await httpPeer('hostile.mjs', [kind, JSON.stringify(behaviour)]);
  peers.push(started);
  return started;
}
async function open(
  target: UpstreamTarget,
  more: Partial<ConnectOptions> = {},
): Promise<UpstreamSession> {
  const session = await connectUpstream(target, { ...options, ...more });
  sessions.push(session);
  return session;
}
async function target(
  kind: 'stdio' | 'http' | 'sse',
  behaviour: Behaviour,
): Promise<UpstreamTarget> {
  if (kind === 'stdio') return stdio(behaviour);
  const { url } = await peer(kind, behaviour);
  return { kind: kind === 'sse' ? 'SSE' : 'HTTP', url, headers: {} };
}

async function heldBy(peer: HttpPeer | undefined): Promise<unknown> {
  const answer = await fetch(new URL('/tally', peer?.url));
  return ((await answer.json()) as { readonly held: number }).held;
}

afterEach(async () => {
  await Promise.all(sessions.splice(0).map((session) => session.close({ force: true })));
  await Promise.all(proxies.splice(0).map((proxy) => proxy.close()));
  await Promise.all(peers.splice(0).map((started) => started.stop()));
  await eventually(() => expect(processesWith(MARK)).toEqual([]));
});

describe.each(['stdio', 'http', 'sse'] as const)('a hostile server over %s', (kind) => {
  it('that never answers a call costs its caller the deadline and other callers nothing', async () => {
    const session = await open(await target(kind, { mute: ['tools/call'] }));
    const refused = expect(call(session, 'echo', {}, 200)).rejects.toMatchObject({
      kind: 'timeout',
    });
    await session.request('ping', undefined, { timeoutMs: 60_000 });
    await refused;
    expect(session.pending).toBe(0);
  });

  it('that never answers the handshake fails to connect in time', async () => {
    const mute = await target(kind, { mute: ['initialize', 'server/discover'] });
    const failed = expect(open(mute, { connectTimeoutMs: 600 })).rejects.toMatchObject({
      code: 'SERVER_CONNECTION_FAILED',
    });
    await failed;
  });

  it('cannot make an answer reach another caller, or reach one twice, by ids', async () => {
    const session = await open(await target(kind, { ids: true, sse: true }));
    const words = Array.from({ length: 30 }, (_, i) => `word ${i}`);
    const answers = await Promise.allSettled(words.map((text) => call(session, 'echo', { text })));
    answers.forEach((answer, i) => {
      // On a stream that all calls share, a second answer with the same id ends the session.
      if (answer.status === 'rejected' && kind !== 'http') return;
      expect(answer).toMatchObject({ value: said(words[i] ?? '') });
    });
    if (kind === 'http') await expect(call(session, 'echo', { text: 'x' })).resolves.toBeDefined();
    else await expect(session.closed).resolves.toMatchObject({ cause: 'lost' });
  });

  it.each([true, false])(
    'that sends an oversized answer fails that call only (id last: %s)',
    async (hugeIdLast) => {
      const session = await open(await target(kind, { hugeBytes: 1_000_000, hugeIdLast }));
      await expect(call(session, 'huge')).rejects.toMatchObject({
        message: expect.stringContaining('larger than 100000 bytes') as string,
      });
      await expect(call(session, 'echo', { text: 'alive' })).resolves.toMatchObject(said('alive'));
    },
  );

  it('with endless pages is read up to the limit', async () => {
    const session = await open(await target(kind, { endlessPages: true }));
    const limits = { maxItems: 1_000, maxPages: 20, timeoutMs: 60_000 };
    await expect(session.listAll('tools', limits)).rejects.toThrow('more than 20 pages');
    const ten = await session.listAll('tools', { ...limits, maxItems: 10 });
    expect(ten).toHaveLength(10);
  });

  it('that floods with notifications has a thousand a second delivered, and still answers', async () => {
    const startedAt = performance.now();
    const session = await open(await target(kind, { flood: 5_000, sse: true }));
    let heard = 0;
    session.onNotification(() => heard++);
    await call(session, 'echo', { text: 'through' });
    const seconds = Math.ceil((performance.now() - startedAt) / 1_000);
    expect(heard).toBeLessThanOrEqual(1_000 * (seconds + 1));
  });

  it.each(['log', 'junk'])(
    'that floods (%s) leaves most of the time to others',
    async (floodOf) => {
      if (kind !== 'stdio' && floodOf === 'junk') return; // only a program can write anything but messages
      const behaviour = { flood: 300, floodOf, sse: true };
      const shares: number[] = [];
      // The least of several: a busy machine may stop this process at any moment.
      while (shares.length < 3 && !shares.some((share) => share < 0.5)) {
        let busyMs = 0;
        const onLogLine = (): void => {
          busyFor(0.3);
          // Not what the clock says: other processes may have had this time.
          busyMs += 0.3;
        };
        const session = await open(await target(kind, behaviour), { onLogLine });
        busyMs = 0;
        const startedAt = performance.now();
        await expect(call(session, 'echo', { text: 'x' })).resolves.toMatchObject(said('x'));
        expect(busyMs).toBeGreaterThan(45);
        shares.push(busyMs / (performance.now() - startedAt));
      }
      expect(Math.min(...shares)).toBeLessThan(0.5);
    },
  );

  it('keeps its session when a handler of one of its messages fails', async () => {
    const failing: Partial<ConnectOptions> = {
      onLogLine: (line) => {
        if (line.startsWith('[log]')) throw new Error('a bug of the service');
      },
    };
    const session = await open(await target(kind, { flood: 2, sse: true }), failing);
    await expect(call(session, 'echo', { text: 'on' })).resolves.toMatchObject(said('on'));
  });

  it('that nests a message too deeply has the message dropped, and still answers', async () => {
    const session = await open(await target(kind, { flood: 2, floodOf: 'deep', sse: true }));
    let heard = 0;
    session.onNotification(() => heard++);
    await expect(call(session, 'echo', { text: 'flat' })).resolves.toMatchObject(said('flat'));
    expect(heard).toBe(0);
  });

  it('that sends a batch of 1,000 messages has the batch dropped', async () => {
    const lines: string[] = [];
    const session = await open(await target(kind, { flood: 2, floodOf: 'batch', sse: true }), {
      onLogLine: (line) => lines.push(line),
    });
    const answered = call(session, 'echo', { text: 'one' });
    await answered.then(
      (result) => expect(result).toMatchObject(said('one')),
      (error: unknown) =>
        expect(error).toMatchObject({ message: expect.stringMatching(/100 messages in a batch/) }),
    );
    expect(lines.filter((line) => line.includes('batched'))).toEqual([]);
  });

  it('that floods with requests and takes no answer delays no call', async () => {
    const lines: string[] = [];
    const flood = { flood: 2_000, floodOf: 'requests', mutePosts: true, sse: true };
    const session = await open(await target(kind, flood), {
      onLogLine: (line) => lines.push(line),
    });
    for (const text of ['one', 'two', 'three']) {
      expect(await call(session, 'echo', { text })).toMatchObject(said(text));
    }
    if (kind === 'stdio') return;
    await eventually(() =>
      expect(lines).toContain('requests get no answer: 128 were not taken yet'),
    );
    // Beside them at most the answers to its own 64 questions that a client could be asked.
    expect(await heldBy(peers[0])).toBeLessThanOrEqual(192);
  });

  it('that dies in mid-call fails it at once, with the reason', async () => {
    const session = await open(await target(kind, { crashOn: 'tools/call' }));
    const failed = expect(call(session, 'echo')).rejects.toMatchObject({
      kind: 'unavailable',
      executed: 'unknown',
    });
    await failed;
    if (kind !== 'http') await expect(session.closed).resolves.toMatchObject({ cause: 'lost' });
  });
});

describe('a hostile process', () => {
  it('that floods and exits has the answer read that it wrote last', async () => {
    const script = `
      const notice = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: {} });
      const say = (message) => JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n';
      require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
        const { id, method, params } = JSON.parse(line);
        const capabilities = { tools: {} };
        const serverInfo = { name: 'f', version: '1' };
        if (method === 'initialize') {
          const { protocolVersion } = params;
          process.stdout.write(say({ id, result: { protocolVersion, capabilities, serverInfo } }));
        } else if (method === 'tools/call') {
          const last = say({ id, result: { content: [] } });
          process.stdout.write((notice + '\\n').repeat(500) + last, () => process.exit());
        } else if (id !== undefined) {
          process.stdout.write(say({ id, error: { code: -32601, message: 'unknown' } }));
        }
      });`;
    const target = { kind: 'STDIO' as const, command: process.execPath, args: ['-e', script] };
    const session = await open({ ...target, env: {} }, { onLogLine: () => busyFor(0.1) });
    await expect(call(session, 'any')).resolves.toMatchObject({ content: [] });
  });

  it('may write any output', async () => {
    const session = await open(stdio({ junk: true }));
    await expect(call(session, 'echo', { text: 'clean' })).resolves.toMatchObject(said('clean'));
    expect(session.logs()).toContain('[stdout] Listening on nothing {');
  });

  it('that writes an endless line is ended', async () => {
    const session = await open(stdio({ endlessLine: true }));
    await expect(call(session, 'endless')).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it('that ignores every request to stop is ended with all its descendants', async () => {
    const session = await open(stdio({ stubborn: true, forks: true }));
    await eventually(() => expect(processesWith(MARK).length).toBeGreaterThanOrEqual(4));
    await session.close();
    await eventually(() => expect(processesWith(MARK)).toEqual([]));
  });

  it('that crashes leaves no descendants', async () => {
    const session = await open(stdio({ forks: true, crashOn: 'ping' }));
    await eventually(() => expect(processesWith(MARK).length).toBeGreaterThanOrEqual(4));
    await expect(session.request('ping', undefined, { timeoutMs: 60_000 })).rejects.toThrow();
    await eventually(() => expect(processesWith(MARK)).toEqual([]));
  });

  it('that dies of the probe is connected as a legacy server', async () => {
    const session = await open(stdio({ crashOn: 'server/discover' }));
    expect(session.era).toBe('legacy');
  });

  it('that ignores the probe is connected as a legacy server', async () => {
    const session = await open(stdio({ mute: ['server/discover'] }), { connectTimeoutMs: 9_000 });
    expect(session.era).toBe('legacy');
  });

  it('reports why it cannot start', async () => {
    await expect(open(stdio({ crashOn: 'initialize' }))).rejects.toThrow(
      /exited \(code 7\).*I do not feel so good/,
    );
  });

  it('has its whole output in its log, and the line with the reason in the error', async () => {
    const text = ['starting', 'Error: no configuration', '}', 'Node.js v20.20.2'].join('\n');
    const script = `process.stderr.write(${JSON.stringify(text)}); process.exitCode = 1`;
    const lines: string[] = [];
    const target = { kind: 'STDIO' as const, command: process.execPath, args: ['-e', script] };
    await expect(
      open({ ...target, env: {} }, { priorEra: 'legacy', onLogLine: (line) => lines.push(line) }),
    ).rejects.toThrow(/its last words: Error: no configuration$/);
    // The last line has no line feed.
    expect(lines).toEqual(text.split('\n'));
  });

  it('gets none of our own environment variables', async () => {
    process.env['MCP_CREDENTIAL_KEY'] = 'a-secret-of-ours';
    const script = 'process.stderr.write(JSON.stringify(Object.keys(process.env)) + "\\n")';
    const printing = { kind: 'STDIO' as const, command: process.execPath, args: ['-e', script] };
    await expect(open({ ...printing, env: { DECLARED: 'yes' } })).rejects.toThrow(
      /its last words: (?=.*"DECLARED")(?=.*"PATH")(?!.*MCP_)(?!.*TEST_POSTGRES_URL)/,
    );
    delete process.env['MCP_CREDENTIAL_KEY'];
  });
});

describe('servers whose era changes', () => {
  it('detects a server that became modern although it is remembered as legacy', async () => {
    const modern = await httpPeer('peer-v2.mjs', ['http', 'modern']);
    peers.push(modern);
    const session = await open(
      { kind: 'HTTP', url: modern.url, headers: {} },
      { priorEra: 'legacy' },
    );
    expect(session.era).toBe('modern');
  });

  it('detects a server that became legacy although it is remembered as modern', async () => {
    const session = await open(await target('http', {}), { priorEra: 'modern' });
    expect(session.era).toBe('legacy');
  });
});

describe('a broken network', () => {
  const through = async (
    behaviour: Behaviour,
    kind: 'http' | 'sse' = 'http',
  ): Promise<{ proxy: FaultProxy; session: UpstreamSession; url: string }> => {
    const { url } = await peer(kind, behaviour);
    const proxy = await FaultProxy.before(url);
    proxies.push(proxy);
    const session = await open({
      kind: kind === 'sse' ? 'SSE' : 'HTTP',
      url: proxy.urlOf(url),
      headers: {},
    });
    return { proxy, session, url };
  };

  it('an answer cut at any tenth byte is the answer or an error, at once and never a wrong one', async () => {
    const { proxy, session } = await through({ sse: true, chunk: 7 });
    const text = 'a text that is long enough to be cut in many places';
    const outcomes: string[] = [];
    for (let passBytes = 0; passBytes <= 600; passBytes += 10) {
      proxy.breakAll();
      proxy.fault = { passBytes, then: passBytes % 20 === 0 ? 'reset' : 'end' };
      const outcome = await call(session, 'echo', { text }).then(
        (result) => (JSON.stringify(result).includes(text) ? 'answered' : 'wrong'),
        (error: unknown) =>
          error instanceof Error && 'executed' in error ? 'lost' : String(error),
      );
      outcomes.push(outcome);
    }
    expect(new Set(outcomes)).toEqual(new Set(['lost', 'answered']));
    expect(outcomes.indexOf('answered')).toBeGreaterThan(10);
    proxy.fault = {};
    await expect(call(session, 'echo', { text })).resolves.toMatchObject(said(text));
  });

  it.each([{ blackhole: true }, { bytesPerSecond: 1 }])(
    'a call ends at its deadline when the network does %j',
    async (fault) => {
      const { proxy, session } = await through({ sse: true });
      proxy.fault = fault;
      await expect(call(session, 'echo', { text: 'x' }, 500)).rejects.toMatchObject({
        kind: 'timeout',
      });
    },
  );

  it('a broken stream of the HTTP+SSE transport fails all its calls at once', async () => {
    const { proxy, session } = await through({ mute: ['tools/call'] }, 'sse');
    const calls = Array.from({ length: 20 }, () => call(session, 'echo'));
    const failed = Promise.all(
      // Some may still wait for their connection, and were not sent.
      calls.map((one) => expect(one).rejects.toBeInstanceOf(ConnectionLost)),
    );
    await eventually(() => expect(session.pending).toBe(20));
    proxy.breakAll();
    await failed;
  });

  it('a server restarted under 100 calls: each is answered or fails with an error, none is repeated', async () => {
    const { proxy, session, url } = await through({ delayMs: 50, sse: true });
    let renewals = 0;
    session.onRenewal(() => renewals++);
    const keys = Array.from({ length: 100 }, (_, i) => `key ${i}`);
    const before = keys.map((key) => call(session, 'tally', { key }));
    await call(session, 'forget');
    const after = await Promise.allSettled(before);
    const again = await Promise.allSettled(
      keys.map((key) => call(session, 'tally', { key: `again ${key}` })),
    );
    for (const [i, outcome] of [...after.entries(), ...again.entries()]) {
      if (outcome.status === 'rejected') throw outcome.reason;
      expect(JSON.stringify(outcome.value)).toContain(`key ${i}"`);
    }
    const { tally, initialised } = (await (await fetch(new URL('/tally', url))).json()) as {
      tally: Record<string, number>;
      initialised: number;
    };
    expect(Object.values(tally).every((count) => count === 1)).toBe(true);
    expect(Object.keys(tally)).toHaveLength(200);
    expect([initialised, renewals]).toEqual([2, 1]);
    expect(proxy.fault).toEqual({});
  });

  it('a process restarted under 100 calls: those fail with an error, and the next ones share one new session', async () => {
    const first = await peer('http', { delayMs: 60_000, sse: true });
    const { port } = new URL(first.url);
    const target: UpstreamTarget = { kind: 'HTTP', url: first.url, headers: {} };
    const session = await open(target);
    const calls = Array.from({ length: 100 }, (_, i) => call(session, 'tally', { key: `${i}` }));
    const told = Promise.all(
      calls.map((one) => expect(one).rejects.toMatchObject({ executed: 'unknown' })),
    );
    await eventually(async () => {
      const { tally } = (await (await fetch(new URL('/tally', first.url))).json()) as {
        tally: object;
      };
      expect(Object.keys(tally)).toHaveLength(100);
    });
    await first.stop();
    await told;
    // It is over if the ping after the loss found that nothing listens there any more.
    await session.verified;
    const isOver = await Promise.race([session.closed.then(() => true), turn(false)]);
    const second = await httpPeer('hostile.mjs', ['http', '{}', port]);
    peers.push(second);
    const next = isOver ? await open(target) : session;
    const words = Array.from({ length: 100 }, (_, i) => `word ${i}`);
    const answers = await Promise.all(words.map((text) => call(next, 'echo', { text })));
    expect(answers).toEqual(words.map((text) => expect.objectContaining(said(text))));
    const { initialised } = (await (await fetch(new URL('/tally', second.url))).json()) as {
      initialised: number;
    };
    expect(initialised).toBe(1);
  });

  it('connections reset under 100 calls: none hangs, and none is executed twice', async () => {
    const { proxy, session, url } = await through({ delayMs: 100 });
    const keys = Array.from({ length: 100 }, (_, i) => `key ${i}`);
    const calls = keys.map((key) => call(session, 'tally', { key }));
    const settled = Promise.allSettled(calls);
    setTimeout(() => proxy.breakAll(), 60);
    await settled;
    for (const outcome of await settled) {
      if (outcome.status === 'rejected') {
        expect(outcome.reason).toMatchObject({ kind: 'unavailable', executed: 'unknown' });
      }
    }
    const { tally } = (await (await fetch(new URL('/tally', url))).json()) as {
      tally: Record<string, number>;
    };
    expect(Object.values(tally).every((count) => count === 1)).toBe(true);
  });
});
