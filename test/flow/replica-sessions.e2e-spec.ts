import { Peers } from '@app/platform';
import { SessionPool } from '@app/sessions';
import { type BalancedReplicas, startBalanced } from '../support/balanced.js';
import { eventually } from '../support/eventually.js';
import { everythingOverHttp, type HttpPeer } from '../support/peers.js';

const LATEST = '2025-11-25';

describe('three replicas behind a load balancer without stickiness', () => {
  let cluster: BalancedReplicas;
  let server: HttpPeer;
  let id: string;

  beforeAll(async () => {
    cluster = await startBalanced(3);
    server = await everythingOverHttp('streamableHttp');
    id = await cluster.register(
      { name: 'everything', transport_type: 'HTTP', connection_config: { base_url: server.url } },
      'everything.echo',
    );
  });
  afterAll(async () => {
    await cluster.close();
    await server.stop();
  });

  const auth = (token: string = cluster.tokens.admin) => ({
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  });
  const post = (
    url: string,
    message: object,
    session?: string,
    token: string = cluster.tokens.alice,
  ) =>
    fetch(`${url}/mcp`, {
      method: 'POST',
      headers: { ...auth(token), ...(session && { 'mcp-session-id': session }) },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    });
  const initialize = async (url: string): Promise<string> => {
    const params = {
      protocolVersion: LATEST,
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    };
    const response = await post(url, { id: 1, method: 'initialize', params });
    await response.text();
    return response.headers.get('mcp-session-id') ?? '';
  };
  const [first, second, third] = [0, 1, 2].map((at) => () => cluster.replicas[at]?.url ?? '') as [
    () => string,
    () => string,
    () => string,
  ];

  it('serve a session of an SDK client whichever of them gets its requests', async () => {
    const client = await cluster.legacyClient();
    for (let i = 0; i < 9; i++) {
      const { content } = await client.callTool({
        name: 'everything__echo',
        arguments: { message: `call ${i}` },
      });
      expect(content).toEqual([{ type: 'text', text: `Echo: call ${i}` }]);
    }
    expect(cluster.balancer.failures).toEqual([]);
  });

  it('keep the session bound to its user', async () => {
    const session = await initialize(first());
    const stolen = await post(second(), { id: 2, method: 'ping' }, session, cluster.tokens.bob);
    expect(stolen.status).toBe(404);
    expect(await stolen.json()).toMatchObject({
      error: { data: { error_code: 'SESSION_NOT_FOUND' } },
    });
    expect((await post(second(), { id: 3, method: 'ping' }, session)).status).toBe(200);
  });

  it('stream the progress of a call, and resume a stream, through another replica', async () => {
    const session = await initialize(first());
    const call = {
      id: 'long',
      method: 'tools/call',
      params: {
        name: 'everything__trigger-long-running-operation',
        arguments: { duration: 0.4, steps: 2 },
        _meta: { progressToken: 'p' },
      },
    };
    const response = await post(second(), call, session);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const text = await response.text();
    expect(text).toContain('notifications/progress');
    const [eventId] = /(?<=^id: ).*$/m.exec(text) ?? [];
    const resumed = await fetch(`${third()}/mcp`, {
      headers: {
        ...auth(cluster.tokens.alice),
        'mcp-session-id': session,
        'last-event-id': eventId ?? '',
      },
    });
    expect(await resumed.text()).toContain('"id":"long"');
  });

  it('end a session by a DELETE that meets another replica', async () => {
    const session = await initialize(first());
    const ended = await fetch(`${second()}/mcp`, {
      method: 'DELETE',
      headers: { ...auth(cluster.tokens.alice), 'mcp-session-id': session },
    });
    expect(ended.status).toBe(200);
    expect((await post(third(), { id: 2, method: 'ping' }, session)).status).toBe(404);
  });

  it('cancel a call whose client leaves the replica that passed it on', async () => {
    const session = await initialize(first());
    const stream = await fetch(`${second()}/mcp`, {
      headers: { ...auth(cluster.tokens.alice), 'mcp-session-id': session },
    });
    expect(stream.status).toBe(200);
    const { McpEndpoint } = await import('@app/mcp-server');
    const standing = (): number | undefined =>
      cluster.replicas[0]?.app.get(McpEndpoint, { strict: false }).standingStreams;
    await eventually(() => expect(standing()).toBeGreaterThan(0));
    const before = standing() ?? 0;
    await stream.body?.cancel();
    await eventually(() => expect(standing()).toBe(before - 1));
  });

  it('refuse a request that only claims to be passed on', async () => {
    const response = await fetch(`${first()}/mcp`, {
      method: 'POST',
      headers: { ...auth(), authorization: 'Switchboard-Pass e30.bm9uZQ' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
    });
    expect(response.status).toBe(401);
  });

  it('answer 404 for a session of an unknown replica', async () => {
    const session = await initialize(first());
    const unknown = session.replace(/\..*$/, `.${crypto.randomUUID()}`);
    const response = await post(second(), { id: 2, method: 'ping' }, unknown);
    expect(response.status).toBe(404);
    await response.text();
  });

  it('open a lost session again that a client waits for, without a call', async () => {
    const session = await initialize(second());
    const listed = await post(second(), { id: 2, method: 'resources/list' }, session);
    const { result } = (await listed.json()) as { result: { resources: { uri: string }[] } };
    const params = { uri: result.resources[0]?.uri };
    const answer = await post(second(), { id: 3, method: 'resources/subscribe', params }, session);
    expect(await answer.json()).toMatchObject({ result: {} });
    const pool = cluster.replicas[1]?.app.get(SessionPool);
    const before = pool?.get(id);
    expect(before).toBeDefined();
    await pool?.reset(id, 'it does not answer');
    await eventually(() => {
      expect(pool?.get(id)).toBeDefined();
      expect(pool?.get(id)).not.toBe(before);
    });
  });

  it('answer 404 for the sessions of a replica that has stopped, and its clients begin another', async () => {
    const session = await initialize(third());
    const [, , stopping] = cluster.replicas;
    const replica = stopping?.app.get(Peers).self ?? '';
    await stopping?.close();
    const response = await post(first(), { id: 2, method: 'ping' }, session);
    expect(response.status).toBe(404);
    await eventually(() =>
      expect(cluster.replicas[0]?.app.get(Peers).get(replica)).toBeUndefined(),
    );
    cluster.balancer.remove(stopping?.url ?? '');
    const client = await cluster.legacyClient();
    await expect(client.listTools()).resolves.toMatchObject({ tools: expect.any(Array) });
  });
});
