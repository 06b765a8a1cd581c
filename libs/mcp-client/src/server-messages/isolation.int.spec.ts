import { isJsonObject, type JsonObject } from '@app/platform';
import { eventually } from '../../../../test/support/eventually.js';
import { fixture, type HttpPeer, httpPeer, stdioPeer } from '../../../../test/support/peers.js';
import { connectUpstream } from '../connect/connect-upstream.js';
import type {
  ConnectOptions,
  RequestCaller,
  UpstreamSession,
  UpstreamTarget,
} from '../upstream.js';

const peers: HttpPeer[] = [];
const sessions: UpstreamSession[] = [];

afterEach(async () => {
  await Promise.all(sessions.splice(0).map((session) => session.close({ force: true })));
  await Promise.all(peers.splice(0).map((peer) => peer.stop()));
});

async function targetOf(kind: 'stdio' | 'sse' | 'http'): Promise<UpstreamTarget> {
  if (kind === 'stdio') return stdioPeer(fixture('crossing.mjs'), ['stdio']);
  const peer = await httpPeer('crossing.mjs', [kind]);
  peers.push(peer);
  return { kind: kind === 'sse' ? 'SSE' : 'HTTP', url: peer.url, headers: {} };
}

async function open(
  kind: 'stdio' | 'sse' | 'http',
  more: Partial<ConnectOptions> = {},
): Promise<UpstreamSession> {
  const session = await connectUpstream(await targetOf(kind), {
    connectTimeoutMs: 60_000,
    maxAnswerBytes: 1_000_000,
    clientInfo: { name: 'switchboard-test', version: '0' },
    clientCapabilities: { elicitation: {}, roots: { listChanged: true } },
    allowInsecureHttp: false,
    ...more,
  });
  sessions.push(session);
  return session;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** A user with one client, and everything that reached it. */
class User {
  readonly seen: string[] = [];
  /** A caller that cannot receive requests or notifications: REST, the aggregated query. */
  isDeaf = false;
  timesAskedForRoots = 0;
  /** Delays the answer to `roots/list` until this resolves. */
  thinking: Promise<void> | undefined;
  private readonly caller: RequestCaller;

  constructor(
    private readonly session: UpstreamSession,
    readonly name: string,
  ) {
    this.caller = { principal: name, client: this };
  }

  readonly answer = async (method: string, params: JsonObject): Promise<JsonObject> => {
    if (method === 'roots/list') {
      this.timesAskedForRoots++;
      await this.thinking;
      return { roots: [{ uri: `file:///${this.name}` }] };
    }
    this.seen.push(`asked ${textOf(params['message'])}`);
    return { action: 'accept', content: { pin: `pin of ${this.name}` } };
  };

  async call(
    steps: readonly string[],
    more: { n?: number; tool?: string; signal?: AbortSignal } = {},
  ): Promise<JsonObject> {
    const { n = 0, tool = 'work', signal } = more;
    const result = await this.session.request(
      'tools/call',
      { name: tool, arguments: { for: this.name, n, do: [...steps] } },
      {
        timeoutMs: 60_000,
        caller: this.caller,
        signal,
        ...(!this.isDeaf && {
          onServerRequest: this.answer,
          onLog: ({ data }) => this.seen.push(`log ${textOf(data)}`),
          onProgress: ({ message }) => this.seen.push(`progress ${textOf(message)}`),
        }),
      },
    );
    const [first] = Array.isArray(result['content']) ? result['content'] : [];
    const text = isJsonObject(first) ? first['text'] : undefined;
    return JSON.parse(textOf(text)) as JsonObject;
  }

  /** Messages that were meant for others. */
  get foreign(): string[] {
    return this.seen.filter((what) => !what.endsWith(`for ${this.name}`));
  }
}

async function two(kind: 'stdio' | 'sse' | 'http', options: Partial<ConnectOptions> = {}) {
  const session = await open(kind, options);
  return { session, ada: new User(session, 'ada'), bob: new User(session, 'bob') };
}

const outcomeOf = (call: Promise<JsonObject>): Promise<JsonObject> =>
  call.catch((error: Error) => ({ error: error.message }));

describe.each(['stdio', 'sse', 'http'] as const)(
  'a server that mixes up its callers, over %s',
  (kind) => {
    it('gives every caller its own answers or a refusal', async () => {
      const { ada, bob } = await two(kind);
      const steps = kind === 'http' ? ['cross', 'stray-progress'] : ['stray-progress'];
      const calls = Array.from({ length: 200 }, (_, n) => {
        const user = n % 2 === 0 ? ada : bob;
        return outcomeOf(user.call(n % 3 === 0 ? ['wait', ...steps] : ['wait'], { n }));
      });
      const answers = await Promise.all(calls);
      answers.forEach((answer, n) => {
        if (answer['error'] !== undefined) expect(answer['error']).toContain('id of another');
        else expect(answer).toMatchObject({ for: n % 2 === 0 ? 'ada' : 'bob', n });
      });
      // A caller whose exchange held only its own answer must not be refused.
      expect(answers.filter((answer) => answer['error'] === undefined).length).toBeGreaterThan(100);
      // On a shared stream only the progress token identifies a call, and the server controls it.
      if (kind === 'http') expect([ada.foreign, bob.foreign]).toEqual([[], []]);
    });

    it('gets its requests answered by the one client it works for, also on a shared stream', async () => {
      const { ada, bob } = await two(kind);
      expect(await ada.call(['question'])).toMatchObject({ answer: 'pin of ada' });
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          (n % 2 === 0 ? ada : bob).call(['question', 'log'], { n }),
        ),
      );
      answers.forEach((answer, n) => {
        expect(answer).toMatchObject({ n, answer: `pin of ${n % 2 === 0 ? 'ada' : 'bob'}` });
      });
      expect([ada.foreign, bob.foreign]).toEqual([[], []]);
    });

    it('does not ask one user about the call of another user without a handler for requests', async () => {
      const { ada, bob } = await two(kind);
      bob.isDeaf = true;
      const running = ada.call(['wait', 'wait', 'wait']);
      const answer = await bob.call(['question', 'log']);
      await running;
      expect(answer['answer']).toMatch(/not answered/);
      expect(ada.seen).toEqual([]);
    });

    it('does not ask the next caller about a cancelled call', async () => {
      const { session, ada, bob } = await two(kind);
      const controller = new AbortController();
      const hanging = outcomeOf(ada.call(['hang'], { signal: controller.signal }));
      await eventually(() => expect(session.pending).toBe(1));
      controller.abort();
      await hanging;
      const answers = await Promise.all([bob.call(['wait', 'wait']), bob.call(['wait', 'log'])]);
      expect(answers).toMatchObject([{ for: 'bob' }, { for: 'bob' }]);
      expect(bob.foreign).toEqual([]);
    });

    it('never gets the roots of a caller into the answers of another caller', async () => {
      const session = await open(kind);
      const [ada, bob] = [new User(session, 'ada'), new User(session, 'bob')];
      bob.isDeaf = true;
      const told = { roots: [{ uri: 'file:///ada' }] };
      session.setRootsProvider(async (user) =>
        user === undefined || user === 'ada'
          ? { result: told, principal: 'ada' }
          : { result: { roots: [] } },
      );
      await session.notify('notifications/roots/list_changed');
      await eventually(async () =>
        expect(await ada.call([], { tool: 'kept' })).toMatchObject({ kept: told.roots }),
      );
      const answers = await Promise.all([1, 2, 3].map(() => bob.call([], { tool: 'kept' })));
      expect(answers.map(({ kept }) => kept)).toEqual([[], [], []]);
      expect(await ada.call([], { tool: 'kept' })).toMatchObject({ kept: [] });
    });

    it('has the roots of a caller withdrawn before the waiting call of another caller is sent', async () => {
      const { session, ada, bob } = await two(kind);
      await ada.call(['question']);
      const before = ada.timesAskedForRoots;
      const running = ada.call(Array<string>(10).fill('wait'));
      const waiting = bob.call([], { tool: 'kept' });
      await session.notify('notifications/roots/list_changed');
      await running;
      expect(ada.timesAskedForRoots).toBeGreaterThan(before);
      expect(await waiting).toMatchObject({ for: 'bob', kept: [] });
    });

    it('gets no roots of a caller while it also works for another caller', async () => {
      const { ada, bob } = await two(kind);
      let tell = (): void => undefined;
      ada.thinking = new Promise((resolve) => (tell = resolve));
      const asking = ada.call(['roots']);
      await eventually(() => expect(ada.timesAskedForRoots).toBeGreaterThan(0));
      const other = bob.call(Array<string>(10).fill('wait'));
      tell();
      expect(await asking).toMatchObject({ roots: [] });
      await other;
    });

    it('has its log messages delivered to its only user, and once there are two only to its own log', async () => {
      const lines: string[] = [];
      const { session, ada, bob } = await two(kind, { onLogLine: (line) => lines.push(line) });
      const heard: unknown[] = [];
      session.onNotification((method, { data }, user) => {
        if (method === 'notifications/message') heard.push([user, data]);
      });
      await ada.call(['log', 'wait']);
      // Where every call has its own exchange, a log message has another one than the answer.
      await eventually(() => expect(ada.seen).toEqual(['log for ada']));
      await Promise.all([ada.call(['log', 'wait']), bob.call(['log', 'wait'])]);
      await eventually(() => expect(lines).toEqual(expect.arrayContaining(['[info] for bob'])));
      expect([bob.seen, heard]).toEqual([[], []]);
    });
  },
);

describe.each(['stdio', 'sse'] as const)('on a stream that all calls share, over %s', (kind) => {
  it('has its first question answered beside other calls when an earlier process asked', async () => {
    const { ada, bob } = await two(kind, { asksCallers: true });
    const answers = await Promise.all([ada.call(['wait', 'question']), bob.call(['question'])]);
    expect(answers).toMatchObject([{ answer: 'pin of ada' }, { answer: 'pin of bob' }]);
    expect([ada.foreign, bob.foreign]).toEqual([[], []]);
  });

  it('says once that it asks its callers', async () => {
    let times = 0;
    const onCallersAsked = (): void => void times++;
    const { ada, bob } = await two(kind, { onCallersAsked });
    await ada.call(['wait']);
    expect(times).toBe(0);
    await Promise.all([ada.call(['question']), bob.call(['question'])]);
    expect(times).toBe(1);
  });

  it('ends the session when an id is answered twice', async () => {
    const { session, ada } = await two(kind);
    await ada.call(['twice']);
    await expect(session.closed).resolves.toMatchObject({
      reason: expect.stringContaining('twice') as string,
    });
  });

  it('ends the session when the server guesses ids', async () => {
    const { session, ada } = await two(kind);
    expect(await outcomeOf(ada.call(['guess']))).not.toMatchObject({ n: 0 });
    await expect(session.closed).resolves.toMatchObject({
      reason: expect.stringContaining('not sent') as string,
    });
  });
});

describe('where every call has its own exchange', () => {
  it('delivers requests and log messages of an exchange to its caller', async () => {
    const { ada, bob } = await two('http');
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        (n % 2 === 0 ? ada : bob).call(['own-log', 'own-question', 'progress'], { n }),
      ),
    );
    answers.forEach((answer, n) => {
      expect(answer).toMatchObject({ n, answer: `pin of ${n % 2 === 0 ? 'ada' : 'bob'}` });
    });
    for (const user of [ada, bob]) {
      expect(user.foreign).toEqual([]);
      expect(user.seen.filter((what) => what.startsWith('log'))).toHaveLength(10);
      expect(user.seen.filter((what) => what.startsWith('progress'))).toHaveLength(10);
    }
  });

  it('does not forward a request of a caller without a handler to another caller', async () => {
    const { ada, bob } = await two('http');
    bob.isDeaf = true;
    const running = ada.call(['wait', 'wait']);
    expect((await bob.call(['own-question', 'own-log']))['answer']).toMatch(/cannot be asked/);
    await running;
    expect(ada.seen).toEqual([]);
  });
});
