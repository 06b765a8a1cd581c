import { temporaryFolder } from '../support/env.js';
import { eventually } from '../support/eventually.js';
import { type HoldingServer, startHoldingServer } from '../support/holding-server.js';
import { send } from '../support/http.js';
import { messagesOf } from '../support/mcp-endpoint.js';
import { type ServiceProcess, startProcess } from '../support/service-process.js';

const call = (name: string, id = 7) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: {} },
});
const version = '2026-07-28';
const envelope = {
  'io.modelcontextprotocol/protocolVersion': version,
  'io.modelcontextprotocol/clientCapabilities': {},
};

describe('a service that is told to stop', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let service: ServiceProcess;
  let session: string;
  let peer: HoldingServer;

  beforeEach(async () => {
    folder = await temporaryFolder();
    peer = await startHoldingServer();
  });
  afterEach(async () => {
    service.child.kill('SIGKILL');
    await service.exited;
    peer.close();
    await folder.remove();
  });

  async function start(graceSeconds: string, delaySeconds = '0'): Promise<void> {
    service = await startProcess(folder.path, {
      MCP_AGGREGATOR_SHUTDOWN_GRACE: graceSeconds,
      MCP_AGGREGATOR_SHUTDOWN_DELAY: delaySeconds,
    });
    const { url, token } = service;
    const body = JSON.stringify({
      name: 'peer',
      transport_type: 'HTTP',
      connection_config: { base_url: peer.url },
    });
    await send(url, '/api/v1/aggregator/servers', { method: 'POST', token, body });
    await eventually(async () => {
      const state = await send(url, '/api/v1/aggregator/state', { token });
      expect(state.body).toMatchObject({ total_tools: 1 });
    });
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: {} };
    const begun = await post({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
    await begun.text();
    session = begun.headers.get('mcp-session-id') ?? '';
  }

  const post = (message: object, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${service.url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${service.token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: JSON.stringify(message),
    });
  const legacyCall = (id: number): Promise<Response> =>
    post(call('peer__wait', id), { 'mcp-session-id': session });
  const modernCall = (): Promise<Response> =>
    post(
      { ...call('peer__wait'), params: { ...call('peer__wait').params, _meta: envelope } },
      { 'mcp-protocol-version': version, 'mcp-method': 'tools/call', 'mcp-name': 'peer__wait' },
    );
  const restCall = () =>
    send(service.url, '/api/v1/tools/call', {
      method: 'POST',
      token: service.token,
      body: JSON.stringify({ name: 'peer.wait', arguments: {} }),
    });
  const keptAliveCall = (): Promise<Response> =>
    fetch(`${service.url}/api/v1/tools/call`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${service.token}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ name: 'peer.wait', arguments: {} }),
    });
  const ready = () => send(service.url, '/health/ready', {});

  it('finishes running requests in both eras and over REST, and refuses new ones', async () => {
    await start('300');
    const standing = await fetch(`${service.url}/mcp`, {
      headers: {
        authorization: `Bearer ${service.token}`,
        accept: 'text/event-stream',
        'mcp-session-id': session,
      },
    });
    const running = [legacyCall(1), legacyCall(2), modernCall()];
    const rest = restCall();
    await eventually(() => expect(peer.held()).toBe(4));
    service.child.kill('SIGTERM');
    await eventually(async () => expect((await ready()).status).toBe(503));
    const refused = await Promise.all([legacyCall(3), modernCall()]);
    for (const answer of refused) {
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
    }
    const refusedRest = await restCall();
    expect([refusedRest.status, refusedRest.headers['retry-after']]).toEqual([503, '5']);
    expect(peer.held()).toBe(4);
    peer.release();
    for (const answer of await Promise.all(running)) {
      expect([answer.status, await answer.json()]).toMatchObject([
        200,
        { result: { content: [{ type: 'text' }] } },
      ]);
    }
    expect((await rest).status).toBe(200);
    // A graceful end of the stream: a cut connection would throw here.
    for await (const message of messagesOf(standing)) expect(message).toHaveProperty('method');
    expect(await service.exited).toBe(0);
  });

  it('is not ready but serves requests until its delay is over', async () => {
    await start('300', '600');
    const running = restCall();
    await eventually(() => expect(peer.held()).toBe(1));
    // Some supervisors send it twice.
    service.child.kill('SIGTERM');
    await eventually(async () => expect((await ready()).status).toBe(503));
    service.child.kill('SIGTERM');
    const during = [keptAliveCall(), keptAliveCall(), legacyCall(3), modernCall()];
    await eventually(() => expect(peer.held()).toBe(5));
    peer.release();
    expect((await running).status).toBe(200);
    for (const { status, headers } of await Promise.all(during)) {
      expect([status, headers.get('connection')]).toEqual([200, 'close']);
    }
    // As a person does who does not want to wait.
    service.child.kill('SIGINT');
    expect(await service.exited).toBe(0);
  });

  it('reports an unknown outcome for calls that exceed the deadline', async () => {
    await start('0.5');
    const running = [...Array.from({ length: 5 }, (_, i) => legacyCall(i)), modernCall()];
    const rest = restCall();
    await eventually(() => expect(peer.held()).toBe(7));
    service.child.kill('SIGTERM');
    for (const answer of await Promise.all(running)) {
      expect(await answer.json()).toMatchObject({
        error: {
          message: expect.stringContaining('do not repeat it blindly'),
          data: { outcome: 'unknown' },
        },
      });
    }
    expect(await rest).toMatchObject({ status: 503, body: { context: { outcome: 'unknown' } } });
    expect(await service.exited).toBe(0);
  });
});
