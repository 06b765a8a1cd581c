import { StoreCallDaysJob } from '../../libs/activity/src/stats/store-call-days.job.js';
import { stopIntervals } from '../support/app.js';
import { type BalancedReplicas, startBalanced } from '../support/balanced.js';
import { type EventReader, readEvents } from '../support/event-reader.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http.js';
import { everythingOverHttp, type HttpPeer } from '../support/peers.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';

describe('two replicas', () => {
  let cluster: BalancedReplicas;
  let server: HttpPeer;
  let receiver: WebhookReceiver;
  let id: string;
  const readers: EventReader[] = [];
  const url = (at: number): string => cluster.replicas[at]?.url ?? '';
  const listen = async (at: number, query: string, last?: string): Promise<EventReader> => {
    const reader = await readEvents({ url: url(at), token: cluster.tokens.admin }, query, last);
    readers.push(reader);
    return reader;
  };
  const describeServer = (at: number, description: string): Promise<unknown> =>
    cluster.rest('PATCH', `/api/v1/aggregator/servers/${id}`, { description }, url(at));
  const call = (at: number) =>
    send(url(at), '/api/v1/tools/call', {
      method: 'POST',
      token: cluster.tokens.alice,
      body: JSON.stringify({ name: 'everything.echo', arguments: { message: 'a' } }),
    });
  const json = async (at: number, path: string): Promise<Record<string, unknown>> =>
    (await (await cluster.rest('GET', path, undefined, url(at))).json()) as Record<string, unknown>;

  beforeAll(async () => {
    receiver = await startWebhookReceiver();
    cluster = await startBalanced(2);
    server = await everythingOverHttp('streamableHttp');
    id = await cluster.register(
      { name: 'everything', transport_type: 'HTTP', connection_config: { base_url: server.url } },
      'everything.echo',
    );
    for (const at of [0, 1]) {
      await eventually(async () => expect((await call(at)).status).toBe(200));
    }
  });
  afterEach(() => {
    for (const reader of readers.splice(0)) reader.close();
  });
  afterAll(async () => {
    await cluster.close();
    await server.stop();
    await receiver.close();
  });

  it('tell a client of either what happens at both', async () => {
    const reader = await listen(0, '?topics=server,call');
    // The second replica is asked as soon as the stream has begun; it tells its position first.
    await eventually(() => expect(reader.lastId.split('.')).toHaveLength(2));
    await describeServer(0, 'at the first');
    await describeServer(1, 'at the second');
    await call(1);
    await eventually(() => {
      expect(reader.of('server')).toHaveLength(2);
      expect(reader.of('call')).toHaveLength(2);
    });
    expect(new Set(reader.of('server').map((event) => event.id.split('-')[0])).size).toBe(2);
  });

  it('continue a stream of the other after its last event', async () => {
    const first = await listen(0, '?topics=server');
    await eventually(() => expect(first.lastId.split('.')).toHaveLength(2));
    first.close();
    await describeServer(0, 'one');
    await describeServer(1, 'two');
    const second = await listen(1, '?topics=server', first.lastId);
    await eventually(() => expect(second.of('server')).toHaveLength(2));
    expect(second.of('gap')).toEqual([]);
  });

  it('list the clients of both, and end one at the other', async () => {
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'elsewhere', version: '1' },
    };
    await send(url(1), '/mcp', {
      method: 'POST',
      token: cluster.tokens.alice,
      headers: { accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
    });
    const { sessions, replicas_missing } = await json(0, '/api/v1/aggregator/sessions');
    expect(replicas_missing).toBe(0);
    const [found] = (sessions as { id: string; client_name: string }[]).filter(
      ({ client_name }) => client_name === 'elsewhere',
    );
    const path = `/api/v1/aggregator/sessions/${found?.id ?? ''}`;
    expect((await cluster.rest('DELETE', path, undefined, url(0))).status).toBe(204);
    expect((await cluster.rest('DELETE', path, undefined, url(0))).status).toBe(404);
  });

  it('send each event to a webhook once', async () => {
    const given = { url: receiver.urlOf('/cluster'), topics: ['server'] };
    const answer = await cluster.rest('POST', '/api/v1/aggregator/webhooks', given, url(1));
    const { id: webhook, secret } = (await answer.json()) as { id: string; secret: string };
    receiver.setSecret('/cluster', secret);
    const state = async (at: number): Promise<unknown> =>
      (await json(at, `/api/v1/aggregator/webhooks/${webhook}`))['id'];
    expect(await state(0)).toBe(webhook);
    await describeServer(1, 'for the webhook');
    await eventually(() => expect(receiver.of('/cluster')).toHaveLength(1));
    await eventually(async () => {
      await describeServer(0, 'also from here');
      expect(receiver.of('/cluster').length).toBeGreaterThan(1);
    });
    const ids = receiver.of('/cluster').map(({ event }) => event.id);
    expect(new Set(ids).size).toBe(ids.length);
    const path = `/api/v1/aggregator/webhooks/${webhook}`;
    expect((await cluster.rest('DELETE', path, undefined, url(1))).status).toBe(204);
  });

  it('add up their calls', async () => {
    // What is being stored is in neither sum for a moment.
    for (const replica of cluster.replicas) {
      stopIntervals(replica);
      await replica.app.get(StoreCallDaysJob, { strict: false }).store();
    }
    for (const window of ['10m', '24h', '30d']) {
      const path = `/api/v1/aggregator/stats?window=${window}&server=everything`;
      const before = await json(0, path);
      await call(0);
      await call(1);
      const after = await json(1, path);
      const calls = ({ series }: Record<string, unknown>): number =>
        (series as { calls: number }[])[0]?.calls ?? 0;
      expect(after).toMatchObject({ replicas_missing: 0 });
      expect(calls(after) - calls(before)).toBe(2);
    }
  });
});
