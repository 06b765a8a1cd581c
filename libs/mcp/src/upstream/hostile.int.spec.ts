import type { JsonObject } from '@app/platform';
import { FaultProxy } from '../../../../test/support/fault-proxy.js';
import { eventually } from '../../../../test/support/eventually.js';
import { fixture, type HttpPeer, httpPeer, processesWith } from '../../../../test/support/peers.js';
import { connectUpstream } from './connect-upstream.js';
import type { ConnectOptions, UpstreamSession, UpstreamTarget } from './upstream.js';

const options: ConnectOptions = {
  connectTimeoutMs: 6_000,
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
  timeoutMs = 5_000,
): Promise<JsonObject> => session.request('tools/call', { name, arguments: args }, { timeoutMs });
const said = (text: string): object => ({ content: [{ type: 'text', text }] });

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const startedAt = performance.now();
  await work;
  expect(performance.now() - startedAt).toBeLessThan(ms);
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

afterEach(async () => {
  await Promise.all(sessions.splice(0).map((session) => session.close({ force: true })));
  await Promise.all(proxies.splice(0).map((proxy) => proxy.close()));
  await Promise.all(peers.splice(0).map((started) => started.stop()));
  expect(processesWith(MARK)).toEqual([]);
});

describe.each(['stdio', 'http', 'sse'] as const)('a hostile server over %s', (kind) => {
  it('that never answers a call costs its caller the deadline and nobody else anything', async () => {
    const session = await open(await target(kind, { mute: ['tools/call'] }));
    const refused = expect(call(session, 'echo', {}, 200)).rejects.toMatchObject({
      kind: 'timeout',
    });
    await within(1_000, session.request('ping', undefined, { timeoutMs: 5_000 }));
    await within(1_000, refused);
    expect(session.pending).toBe(0);
  });

  it('that never answers the handshake fails to connect in time', async () => {
    const mute = await target(kind, { mute: ['initialize', 'server/discover'] });
    const failed = expect(open(mute, { connectTimeoutMs: 600 })).rejects.toMatchObject({
      code: 'SERVER_CONNECTION_FAILED',
    });
    await within(3_000, failed);
  });

  it('cannot make an answer reach another caller, or reach one twice, by ids', async () => {
    const session = await open(await target(kind, { ids: true, sse: true }));
    const words = Array.from({ length: 30 }, (_, i) => `word ${i}`);
    const answers = await Promise.all(words.map((text) => call(session, 'echo', { text })));
    expect(answers).toEqual(words.map((text) => expect.objectContaining(said(text))));
  });

  it.each([true, false])(
    'that answers too much fails that call only (id last: %s)',
    async (hugeIdLast) => {
      const session = await open(await target(kind, { hugeBytes: 1_000_000, hugeIdLast }));
      await expect(call(session, 'huge')).rejects.toMatchObject({
        message: expect.stringContaining('larger than 100000 bytes') as string,
      });
      await expect(call(session, 'echo', { text: 'alive' })).resolves.toMatchObject(said('alive'));
    },
  );

  it('with pages without end is read up to the limit', async () => {
    const session = await open(await target(kind, { endlessPages: true }));
    const limits = { maxItems: 1_000, maxPages: 20, timeoutMs: 10_000 };
    await expect(session.listAll('tools', limits)).rejects.toThrow('more than 20 pages');
    const ten = await session.listAll('tools', { ...limits, maxItems: 10 });
    expect(ten).toHaveLength(10);
  });

  it('that floods with notifications is heard a thousand times a second, and still answers', async () => {
    const session = await open(await target(kind, { flood: 5_000, sse: true }));
    let heard = 0;
    session.onNotification(() => heard++);
    await within(4_000, call(session, 'echo', { text: 'through' }));
    expect(heard).toBeLessThanOrEqual(3_000);
  });

  it('that dies in mid-call fails it at once, and says so', async () => {
    const session = await open(await target(kind, { crashOn: 'tools/call' }));
    const failed = expect(call(session, 'echo')).rejects.toMatchObject({
      kind: 'unavailable',
      executed: 'unknown',
    });
    await within(1_000, failed);
    if (kind !== 'http') await expect(session.closed).resolves.toMatchObject({ cause: 'lost' });
  });
});

describe('a hostile process', () => {
  it('may write what it wants to its output', async () => {
    const session = await open(stdio({ junk: true }));
    await expect(call(session, 'echo', { text: 'clean' })).resolves.toMatchObject(said('clean'));
    expect(session.logs()).toContain('[stdout] Listening on nothing {');
  });

  it('that writes a line without an end is ended', async () => {
    const session = await open(stdio({ endlessLine: true }));
    await within(
      5_000,
      expect(call(session, 'endless')).rejects.toMatchObject({ kind: 'unavailable' }),
    );
  });

  it('that ignores every request to stop is gone all the same, with all it started', async () => {
    const session = await open(stdio({ stubborn: true, forks: true }));
    await eventually(() => expect(processesWith(MARK).length).toBeGreaterThanOrEqual(4));
    await within(6_000, session.close());
    expect(processesWith(MARK)).toEqual([]);
  });

  it('that crashes leaves nothing it started', async () => {
    const session = await open(stdio({ forks: true, crashOn: 'ping' }));
    await eventually(() => expect(processesWith(MARK).length).toBeGreaterThanOrEqual(4));
    await expect(session.request('ping', undefined, { timeoutMs: 5_000 })).rejects.toThrow();
    await eventually(() => expect(processesWith(MARK)).toEqual([]), 2_000);
  });

  it('that dies of the probe is met as the old server it is', async () => {
    const session = await open(stdio({ crashOn: 'server/discover' }));
    expect(session.era).toBe('legacy');
  });

  it('that leaves the probe unanswered is met as the old server it is', async () => {
    const session = await open(stdio({ mute: ['server/discover'] }), { connectTimeoutMs: 3_000 });
    expect(session.era).toBe('legacy');
  });

  it('says why it cannot start', async () => {
    await expect(open(stdio({ crashOn: 'initialize' }))).rejects.toThrow(
      /exited \(code 7\).*I do not feel so good/,
    );
  });

  it('gets none of our own variables', async () => {
    process.env['MCP_CREDENTIAL_KEY'] = 'a-secret-of-ours';
    const script = 'process.stderr.write(JSON.stringify(Object.keys(process.env)) + "\\n")';
    const printing = { kind: 'STDIO' as const, command: process.execPath, args: ['-e', script] };
    await expect(open({ ...printing, env: { DECLARED: 'yes' } })).rejects.toThrow(
      /its last words: (?=.*"DECLARED")(?=.*"PATH")(?!.*MCP_)(?!.*TEST_POSTGRES_URL)/,
    );
    delete process.env['MCP_CREDENTIAL_KEY'];
  });
});

describe('eras that change', () => {
  it('a server that became modern is noticed, although it is remembered as legacy', async () => {
    const modern = await httpPeer('peer-v2.mjs', ['http', 'modern']);
    peers.push(modern);
    const session = await open(
      { kind: 'HTTP', url: modern.url, headers: {} },
      { priorEra: 'legacy' },
    );
    expect(session.era).toBe('modern');
  });

  it('a server that became legacy is met as such, although it is remembered as modern', async () => {
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
      const startedAt = performance.now();
      const outcome = await call(session, 'echo', { text }).then(
        (result) => (JSON.stringify(result).includes(text) ? 'answered' : 'wrong'),
        (error: unknown) =>
          error instanceof Error && 'executed' in error ? 'lost' : String(error),
      );
      expect(performance.now() - startedAt).toBeLessThan(1_500);
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
      await within(
        1_500,
        expect(call(session, 'echo', { text: 'x' }, 500)).rejects.toMatchObject({
          kind: 'timeout',
        }),
      );
    },
  );

  it('a stream of the old transport that breaks fails all its calls at once', async () => {
    const { proxy, session } = await through({ mute: ['tools/call'] }, 'sse');
    const calls = Array.from({ length: 20 }, () => call(session, 'echo', {}, 20_000));
    const failed = Promise.all(
      calls.map((one) => expect(one).rejects.toMatchObject({ executed: 'unknown' })),
    );
    await eventually(() => expect(session.pending).toBe(20));
    proxy.breakAll();
    await within(1_000, failed);
  });

  it('a server restarted under 100 calls: each is right, lost or told, none is repeated', async () => {
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

  it('a process restarted under 100 calls: those are told, and the next ones need one new session', async () => {
    const first = await peer('http', { delayMs: 500, sse: true });
    const { port } = new URL(first.url);
    const session = await open({ kind: 'HTTP', url: first.url, headers: {} });
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
    await within(1_000, told);
    const second = await httpPeer('hostile.mjs', ['http', '{}', port]);
    peers.push(second);
    const words = Array.from({ length: 100 }, (_, i) => `word ${i}`);
    const answers = await Promise.all(words.map((text) => call(session, 'echo', { text })));
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
    await within(2_000, settled);
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
