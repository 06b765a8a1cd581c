import { Leadership } from '@app/platform';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { temporaryFolder } from '../support/env.js';
import { eventually } from '../support/eventually.js';
import { type Fault, FaultProxy } from '../support/fault-proxy.js';
import { type Answer, send } from '../support/http.js';
import { freePort } from '../support/peers.js';
import { createDatabase } from '../support/postgres.js';

const LEDGER = join(process.cwd(), 'test/cluster/ledger.mjs');
const TOKEN = 'a-token-for-this-test-only';

/** Where the connection between the replicas breaks; `isSent`: the owner gets the request. */
const CUTS = {
  'before the request arrives': { fault: { blackhole: true }, isSent: false },
  'before the answer begins': { fault: { passBytes: 0, then: 'reset' }, isSent: true },
  'when half of the answer is passed on': { fault: { passBytes: 40, then: 'reset' }, isSent: true },
} as const satisfies Record<string, { readonly fault: Fault; readonly isSent: boolean }>;
type Cut = keyof typeof CUTS;
const cuts = Object.keys(CUTS) as Cut[];

describe('a request that is passed on to a replica', () => {
  const closing: (() => Promise<unknown>)[] = [];
  let owner: TestApp;
  let other: TestApp;
  let proxy: FaultProxy;
  let file: string;
  let session: string;
  let made = 0;

  beforeAll(async () => {
    const folder = await temporaryFolder();
    closing.push(() => folder.remove());
    file = join(folder.path, 'ledger');
    writeFileSync(file, '');
    const port = await freePort();
    proxy = await FaultProxy.before(`http://127.0.0.1:${port}`);
    closing.unshift(() => proxy.close());
    const common = {
      DATABASE_URL: await createDatabase(),
      MCP_AGGREGATOR_TOKENS: `ada:admin:${TOKEN}`,
    };
    owner = await startApp({
      ...common,
      MCP_AGGREGATOR_PORT: String(port),
      MCP_AGGREGATOR_REPLICA_URL: proxy.urlOf(`http://127.0.0.1:${port}`),
    });
    other = await startApp(common);
    closing.unshift(
      () => other.close(),
      () => owner.close(),
    );
    expect([owner, other].map(({ app }) => app.get(Leadership).leads)).toEqual([true, false]);
    await new Api({ url: owner.url, token: TOKEN }).register({
      name: 'ledger',
      transport_type: 'STDIO',
      connection_config: { command: process.execPath, args: [LEDGER, 'stdio', file] },
    });
    await eventually(async () => expect((await callTool('first')).status).toBe(200));
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    };
    const begun = await mcp(owner, { id: 0, method: 'initialize', params });
    session = begun.headers['mcp-session-id'] ?? '';
  }, 120_000);
  afterAll(async () => {
    for (const close of closing) await close();
  });

  const executed = (): string[] => readFileSync(file, 'utf8').split('\n').filter(Boolean);
  const callTool = (key: string): Promise<Answer> =>
    send(other.url, '/api/v1/tools/call', {
      method: 'POST',
      token: TOKEN,
      body: JSON.stringify({ name: 'ledger.add', arguments: { key } }),
    });
  const mcp = (at: TestApp, message: object): Promise<Answer> =>
    send(at.url, '/mcp', {
      method: 'POST',
      token: TOKEN,
      headers: {
        accept: 'application/json, text/event-stream',
        ...(session && { 'mcp-session-id': session }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    });
  const inSession = (key: string): Promise<Answer> =>
    mcp(other, {
      id: key,
      method: 'tools/call',
      params: { name: 'ledger__add', arguments: { key } },
    });
  const nextKey = (): string => `key-${(made += 1)}`;

  /** Breaks what is sent from now on; a request whose bytes vanish ends when the connections do. */
  async function whileCut<T>(cut: Cut, request: () => Promise<T>): Promise<T> {
    const { fault } = CUTS[cut];
    proxy.breakAll();
    // The connections that were kept are noticed to be gone.
    await eventually(async () => expect((await callTool(nextKey())).status).toBe(200));
    await eventually(async () => expect((await inSession(nextKey())).status).toBe(200));
    proxy.breakAll();
    proxy.fault = fault;
    const { swallowed } = proxy;
    const running = request();
    if ('blackhole' in fault) {
      await eventually(() => expect(proxy.swallowed).toBeGreaterThan(swallowed));
      proxy.breakAll();
    }
    try {
      return await running;
    } finally {
      proxy.fault = {};
      proxy.breakAll();
    }
  }

  it.each(cuts)('to call a STDIO server has an honest outcome when it breaks %s', async (cut) => {
    const key = nextKey();
    const { status, body } = await whileCut(cut, () => callTool(key));
    expect(status).not.toBe(200);
    const { context } = body as { context: { outcome: string } };
    expect(['unknown', 'not executed']).toContain(context.outcome);
    if (CUTS[cut].isSent) await eventually(() => expect(executed()).toContain(key));
    if (executed().includes(key)) expect(context.outcome).toBe('unknown');
    await eventually(async () => expect((await callTool(nextKey())).status).toBe(200));
    expect(executed().filter((one) => one === key).length).toBeLessThanOrEqual(1);
  });

  it.each(cuts)('in a session has no answer that looks complete when it breaks %s', async (cut) => {
    const key = nextKey();
    const answer = await whileCut(cut, () => inSession(key)).catch((error: unknown) => error);
    if (!(answer instanceof Error)) {
      const { status, text } = answer as Answer;
      expect(status).toBe(502);
      expect(text).toContain('"outcome":"unknown"');
    }
    if (CUTS[cut].isSent) await eventually(() => expect(executed()).toContain(key));
    await eventually(async () => expect((await inSession(nextKey())).status).toBe(200));
    expect(executed().filter((one) => one === key).length).toBeLessThanOrEqual(1);
  });

  it('is told not to be executed when the replica refuses connections', async () => {
    const [own, passed] = [nextKey(), nextKey()];
    await proxy.close();
    const inOther = await inSession(passed);
    expect([inOther.status, inOther.text.includes('SESSION_NOT_FOUND')]).toEqual([404, true]);
    // The connections that were kept are noticed first.
    await eventually(async () => {
      const { status, body } = await callTool(own);
      expect([status, body]).toMatchObject([503, { context: { outcome: 'not executed' } }]);
    });
    expect(executed()).not.toContain(passed);
    expect(executed()).not.toContain(own);
  }, 60_000);
});
