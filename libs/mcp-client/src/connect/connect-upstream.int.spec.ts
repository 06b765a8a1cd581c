import type { JsonObject } from '@app/platform';
import { join } from 'node:path';
import { temporaryFolder } from '../../../../test/support/env.js';
import { eventually } from '../../../../test/support/eventually.js';
import {
  everythingOverHttp,
  fixture,
  type HttpPeer,
  httpPeer,
  npmServers,
  processesWith,
  stdioPeer,
} from '../../../../test/support/peers.js';
import { connectUpstream } from './connect-upstream.js';
import type { ConnectOptions, UpstreamSession, UpstreamTarget } from '../upstream.js';

const options: ConnectOptions = {
  connectTimeoutMs: 60_000,
  maxAnswerBytes: 10_000_000,
  clientInfo: { name: 'switchboard-test', version: '0' },
  clientCapabilities: { elicitation: {} },
  allowInsecureHttp: false,
};
const limits = { maxItems: 1_000, maxPages: 100, timeoutMs: 60_000 };

const text = (result: JsonObject): unknown => {
  const [first] = Array.isArray(result['content']) ? result['content'] : [];
  return typeof first === 'object' && first !== null && 'text' in first ? first['text'] : undefined;
};
const call = (
  session: UpstreamSession,
  name: string,
  args: JsonObject,
  more: Partial<Parameters<UpstreamSession['request']>[2]> = {},
): Promise<JsonObject> =>
  session.request(
    'tools/call',
    { name, arguments: args },
    { timeoutMs: 60_000, caller: { principal: 'tester', client: session }, ...more },
  );

describe('the reference servers of MCP', () => {
  it('everything, filesystem and memory over STDIO: connect, list, call, close', async () => {
    const folder = await temporaryFolder();
    const marker = `SWITCHBOARD_TEST_MARK=${folder.path}`;
    const targets = [
      npmServers.everything(),
      npmServers.filesystem(folder.path),
      npmServers.memory(join(folder.path, 'memory.json')),
    ].map((target) => ({
      ...target,
      env: { ...target.env, SWITCHBOARD_TEST_MARK: folder.path },
    }));
    const sessions = await Promise.all(targets.map((target) => connectUpstream(target, options)));
    const lists = await Promise.all(sessions.map((session) => session.listAll('tools', limits)));
    expect(sessions.map((session) => session.era)).toEqual(['legacy', 'legacy', 'legacy']);
    expect(lists.map((list) => list.length)).toEqual([
      expect.any(Number),
      expect.any(Number),
      expect.any(Number),
    ]);
    expect(Math.min(...lists.map((list) => list.length))).toBeGreaterThan(5);
    const [everything] = sessions;
    if (!everything) throw new Error('unreachable');
    expect(text(await call(everything, 'echo', { message: 'hello' }))).toBe('Echo: hello');
    expect(processesWith(marker)).not.toEqual([]);
    await Promise.all(sessions.map((session) => session.close()));
    await eventually(() => expect(processesWith(marker)).toEqual([]));
    await folder.remove();
  });

  it.each(['streamableHttp', 'sse'] as const)('everything over %s', async (kind) => {
    const peer = await everythingOverHttp(kind);
    const target: UpstreamTarget = {
      kind: kind === 'sse' ? 'SSE' : 'HTTP',
      url: peer.url,
      headers: {},
    };
    const session = await connectUpstream(target, options);
    expect((await session.listAll('tools', limits)).length).toBeGreaterThan(5);
    expect(text(await call(session, 'echo', { message: 'hello' }))).toBe('Echo: hello');
    await session.close();
    const again = await connectUpstream(target, options);
    expect(text(await call(again, 'echo', { message: 'again' }))).toBe('Echo: again');
    await again.close();
    await peer.stop();
  });
});

describe.each([
  ['v1 STDIO', 'legacy', () => stdioPeer(fixture('peer-v1.mjs'), ['stdio'])],
  ['v1 HTTP', 'legacy', ['peer-v1.mjs', 'http']],
  ['v1 SSE', 'legacy', ['peer-v1.mjs', 'sse']],
  ['v2 STDIO legacy', 'legacy', () => stdioPeer(fixture('peer-v2.mjs'), ['stdio', 'legacy'])],
  ['v2 HTTP legacy', 'legacy', ['peer-v2.mjs', 'http', 'legacy']],
  ['v2 STDIO modern', 'modern', () => stdioPeer(fixture('peer-v2.mjs'), ['stdio', 'modern'])],
  ['v2 HTTP modern', 'modern', ['peer-v2.mjs', 'http', 'modern']],
  ['v2 HTTP of both eras', 'modern', ['peer-v2.mjs', 'http', 'auto']],
] as const)('a server of the SDK: %s', (_name, era, how) => {
  let peer: HttpPeer | undefined;
  let target: UpstreamTarget;
  let session: UpstreamSession;

  beforeAll(async () => {
    if (typeof how === 'function') target = how();
    else {
      const [script, kind, ...args] = how;
      peer = await httpPeer(script, [kind, ...args]);
      target = { kind: kind === 'sse' ? 'SSE' : 'HTTP', url: peer.url, headers: {} };
    }
    session = await connectUpstream(target, options);
  });

  afterAll(async () => {
    await session.close();
    await peer?.stop();
  });

  it('connects in its era', () => {
    expect(session.era).toBe(era);
    expect(session.serverInfo['name']).toMatch(/^peer-v/);
    expect(session.instructions).toBe('echo what you like');
    expect(session.capabilities).toHaveProperty('tools');
  });

  it('lists its tools and answers calls, many at once, each to its own caller', async () => {
    const tools = await session.listAll('tools', limits);
    expect(tools.map((tool) => tool['name'])).toEqual(
      expect.arrayContaining(['echo', 'count', 'wait', 'ask', 'grow']),
    );
    const words = Array.from({ length: 50 }, (_, i) => `word ${i}`);
    const answers = await Promise.all(words.map((word) => call(session, 'echo', { text: word })));
    expect(answers.map(text)).toEqual(words);
    expect(session.pending).toBe(0);
  });

  it('reports progress to the call that asked for it', async () => {
    const seen: unknown[] = [];
    const result = await call(
      session,
      'count',
      { to: 3 },
      { onProgress: (params) => seen.push(params['progress']) },
    );
    expect(text(result)).toBe('counted to 3');
    expect(seen).toEqual([1, 2, 3]);
  });

  it('counts requests of users as pending, not those of the service', async () => {
    const [listing, pinging] = [
      session.listAll('tools', limits),
      session.request('ping', undefined, { timeoutMs: 60_000 }),
    ];
    const echoing = call(session, 'echo', { text: 'one' });
    expect(session.pending).toBe(1);
    await Promise.all([listing, pinging, echoing]);
    expect(session.pending).toBe(0);
  });

  it('receives a cancellation when the caller cancels, and keeps answering', async () => {
    const controller = new AbortController();
    const waiting = call(session, 'wait', { ms: 60_000 }, { signal: controller.signal });
    await eventually(() => expect(session.pending).toBe(1));
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'REQUEST_CANCELLED' });
    expect(text(await call(session, 'echo', { text: 'still here' }))).toBe('still here');
    if (target.kind === 'STDIO') {
      await eventually(() => expect(session.logs()).toContain('the wait was cancelled'));
    }
  });

  it('ends a call at its deadline', async () => {
    await expect(call(session, 'wait', { ms: 60_000 }, { timeoutMs: 100 })).rejects.toMatchObject({
      kind: 'timeout',
    });
  });

  it('forwards its requests for input to the handler of the call', async () => {
    const onServerRequest = (method: string): Promise<JsonObject> =>
      Promise.resolve({ action: 'accept', content: { colour: method } });
    const answer = JSON.parse(String(text(await call(session, 'ask', {}, { onServerRequest }))));
    expect(answer).toMatchObject({ action: 'accept', content: { colour: 'elicitation/create' } });
  });

  it('stops waiting for input at a deadline', async () => {
    const onServerRequest = (): Promise<JsonObject> => new Promise(() => undefined);
    await expect(
      call(session, 'ask', {}, { onServerRequest, timeoutMs: 200, maxTotalMs: 400 }),
    ).rejects.toMatchObject({ kind: 'timeout' });
    expect(session.pending).toBe(0);
  });

  it('reports that its tools changed', async () => {
    const heard: string[] = [];
    const forget = session.onNotification((method) => heard.push(method));
    await eventually(async () => {
      await call(session, 'grow', {});
      expect(heard).toContain('notifications/tools/list_changed');
    });
    forget();
  });

  it('answers a ping', async () => {
    await expect(session.request('ping', undefined, { timeoutMs: 60_000 })).resolves.toBeDefined();
  });

  it('behaves the same after reconnecting with the remembered era', async () => {
    await session.close();
    await expect(session.closed).resolves.toMatchObject({ cause: 'asked' });
    session = await connectUpstream(target, { ...options, priorEra: era });
    expect(session.era).toBe(era);
    expect(text(await call(session, 'echo', { text: 'again' }))).toBe('again');
  });
});
