import { McpEndpoint } from '@app/mcp-server';
import { SessionPool } from '@app/sessions';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BalancedReplicas, startBalanced } from '../support/balanced.js';
import { temporaryFolder } from '../support/env.js';
import { eventually } from '../support/eventually.js';

const LEDGER = join(process.cwd(), 'test/cluster/ledger.mjs');
const ABANDONED = 30;
const capabilities = { elicitation: {} };

describe('a STDIO server that asks its callers, at two replicas', () => {
  let cluster: BalancedReplicas;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let id: string;

  beforeAll(async () => {
    folder = await temporaryFolder();
    const file = join(folder.path, 'ledger');
    writeFileSync(file, '');
    cluster = await startBalanced(2);
    const connection_config = { command: process.execPath, args: [LEDGER, 'stdio', file] };
    const server = { name: 'ledger', transport_type: 'STDIO', connection_config };
    id = await cluster.register(server, 'ledger.ask');
  }, 120_000);
  afterAll(async () => {
    await cluster.close();
    await folder.remove();
  });

  const post = (
    message: object,
    session: Record<string, string> = {},
    signal?: AbortSignal,
  ): Promise<Response> =>
    fetch(`${cluster.url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${cluster.tokens.alice}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...session,
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
      ...(signal && { signal }),
    });
  const begin = async (): Promise<Record<string, string>> => {
    const clientInfo = { name: 'asked', version: '1' };
    const params = { protocolVersion: '2025-11-25', capabilities, clientInfo };
    const answer = await post({ id: 0, method: 'initialize', params });
    await answer.text();
    const session = { 'mcp-session-id': answer.headers.get('mcp-session-id') ?? '' };
    await (await post({ method: 'notifications/initialized' }, session)).text();
    return session;
  };
  const ask = (session: Record<string, string>, key: string, signal?: AbortSignal) =>
    post(
      { id: 1, method: 'tools/call', params: { name: 'ledger__ask', arguments: { key } } },
      session,
      signal,
    );
  const pending = (): number =>
    cluster.replicas.reduce((sum, { app }) => sum + app.get(SessionPool).pending(id), 0);

  it('serves others again after clients with a session have gone away while they waited', async () => {
    const holder = await begin();
    const held = await ask(holder, 'held');
    const reader = held.body?.pipeThrough(new TextDecoderStream()).getReader();
    const { value: question = '' } = (await reader?.read()) ?? {};
    expect(question).toContain('elicitation/create');

    const gone = new AbortController();
    const before = pending();
    const abandoned = Array.from({ length: ABANDONED }, async (_, i) =>
      ask(await begin(), `abandoned-${i}`, gone.signal).then((answer) => answer.text()),
    );
    const left = Promise.allSettled(abandoned);
    await eventually(() => expect(pending()).toBeGreaterThanOrEqual(before));
    const running = (): number =>
      cluster.replicas.reduce((sum, { app }) => sum + app.get(McpEndpoint).runningCalls, 0);
    await eventually(() => expect(running()).toBeGreaterThan(ABANDONED));
    gone.abort();
    await left;

    const result = { action: 'accept', content: { word: 'yes' } };
    const answered = JSON.parse(/data: (.*)/.exec(question)?.[1] ?? '{}') as { id: number };
    await (await post({ id: answered.id, result }, holder)).text();
    // Each of them would hold the server for minutes.
    const answer = await cluster.rest('POST', '/api/v1/tools/call', {
      name: 'ledger.add',
      arguments: { key: 'next' },
    });
    expect(answer.status).toBe(200);
    await eventually(() => expect(running()).toBe(0));
  }, 120_000);
});
