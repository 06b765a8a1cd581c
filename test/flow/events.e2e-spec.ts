import { EventStreams } from '@app/activity';
import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { type EventReader, readEvents } from '../support/event-reader.js';
import { send } from '../support/http.js';
import { everythingOverHttp, type HttpPeer } from '../support/peers.js';

describe('events', () => {
  let service: TestApp;
  let api: Api;
  let server: HttpPeer;
  let id: string;
  const readers: EventReader[] = [];
  const listen = async (query = '', last?: string, token = service.token): Promise<EventReader> => {
    const reader = await readEvents({ url: service.url, token }, query, last);
    readers.push(reader);
    return reader;
  };
  const call = (): Promise<unknown> =>
    send(service.url, '/api/v1/tools/call', {
      method: 'POST',
      token: service.tokens.call,
      body: JSON.stringify({ name: 'loud.echo', arguments: { message: 'a-secret-argument' } }),
    });

  beforeAll(async () => {
    service = await startApp();
    api = new Api(service);
    server = await everythingOverHttp('streamableHttp');
    id = await api.register({
      name: 'loud',
      transport_type: 'HTTP',
      connection_config: { base_url: server.url },
    });
    await eventually(async () => expect(await api.status(id)).toBe('CONNECTED'));
    await eventually(async () => expect(await call()).toMatchObject({ status: 200 }));
  });
  afterEach(() => {
    for (const reader of readers.splice(0)) reader.close();
  });
  afterAll(async () => {
    await service.close();
    await server.stop();
  });

  const describeServer = (description: string): Promise<unknown> =>
    send(service.url, `/api/v1/aggregator/servers/${id}`, {
      method: 'PATCH',
      token: service.token,
      body: JSON.stringify({ description }),
    });

  it('tell of a change of a server, with an id, a time and a topic', async () => {
    const reader = await listen('?topics=server&server=loud');
    await describeServer('first');
    const event = await eventually(() => {
      expect(reader.of('server')).toHaveLength(1);
      return reader.of('server')[0];
    });
    expect(event).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-\d+$/),
      at: expect.stringMatching(/^\d{4}-/),
      topic: 'server',
      data: { change: 'updated', server_id: id, server: 'loud', fields: ['description'] },
    });
  });

  it('tell the start and end of a call without its arguments and result', async () => {
    const reader = await listen('?topics=call');
    await call();
    await eventually(() => expect(reader.of('call')).toHaveLength(2));
    const [start, end] = reader.of('call').map(({ data }) => data);
    expect(start).toEqual({
      phase: 'start',
      call_id: expect.any(String),
      tool: 'loud.echo',
      server_id: id,
      server: 'loud',
      caller: 'call',
      view: 'default',
      entry: 'rest',
    });
    expect(end).toMatchObject({
      phase: 'end',
      call_id: start?.['call_id'],
      outcome: 'success',
      error_code: null,
      duration_ms: expect.any(Number),
      bytes: expect.any(Number),
    });
    expect(JSON.stringify(reader.events)).not.toContain('a-secret-argument');
    await eventually(() => expect(reader.of('rate').length).toBeGreaterThan(0));
  });

  it('name callers, and show the audit log, only to admins', async () => {
    const [admin, reader] = [await listen(), await listen('', undefined, service.tokens.read)];
    await call();
    await describeServer('second');
    await eventually(() => {
      expect(admin.of('audit').map(({ data }) => data['event'])).toContain('server.updated');
      expect(admin.of('call')).toHaveLength(2);
      expect(reader.of('call')).toHaveLength(2);
      expect(reader.of('server')).toHaveLength(1);
    });
    expect(reader.of('audit')).toEqual([]);
    expect(reader.of('call').map(({ data }) => data['caller'])).toEqual([undefined, undefined]);
    for (const topic of ['audit', 'policy']) {
      const refused = await listen(`?topics=${topic}`, undefined, service.tokens.read);
      expect(refused.status).toBe(403);
    }
  });

  it('continue after the last one that a client has read', async () => {
    const first = await listen('?topics=server');
    await describeServer('third');
    await eventually(() => expect(first.of('server')).toHaveLength(1));
    first.close();
    await describeServer('fourth');
    await describeServer('fifth');
    const second = await listen('?topics=server', first.lastId);
    await eventually(() => expect(second.of('server')).toHaveLength(2));
    expect(second.of('gap')).toEqual([]);
    const third = await listen('?topics=server', second.lastId);
    await describeServer('sixth');
    await eventually(() => expect(third.of('server')).toHaveLength(1));
  });

  it('say that some may be missing when a client comes from a process that has ended', async () => {
    const reader = await listen('?topics=server', 'deadbeef-7');
    await eventually(() => expect(reader.of('gap')).toHaveLength(1));
    expect(reader.of('gap')[0]?.data).toEqual({ lost: null });
    expect(reader.events[0]?.topic).toBe('gap');
  });

  it('answer HEAD at once, without a stream', async () => {
    const { size } = service.app.get(EventStreams, { strict: false });
    const answer = await fetch(`${service.url}/api/v1/events`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${service.token}` },
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toContain('text/event-stream');
    expect(service.app.get(EventStreams, { strict: false }).size).toBeLessThanOrEqual(size);
  });

  it('end when the token is revoked', async () => {
    const issued = await send(service.url, '/api/v1/aggregator/tokens', {
      method: 'POST',
      token: service.token,
      body: JSON.stringify({ name: 'listener', scopes: ['read'] }),
    });
    const { token, id: tokenId } = issued.body as { token: string; id: string };
    const reader = await listen('', undefined, token);
    expect([reader.status, reader.isEnded]).toEqual([200, false]);
    await send(service.url, `/api/v1/aggregator/tokens/${tokenId}`, {
      method: 'DELETE',
      token: service.token,
    });
    await eventually(() => expect(reader.isEnded).toBe(true));
  });

  it('are refused to a caller who sees a part of the tools', async () => {
    expect((await api.call('POST', '/views', { slug: 'part', rules: [] })).status).toBe(201);
    const issued = await send(service.url, '/api/v1/aggregator/tokens', {
      method: 'POST',
      token: service.token,
      body: JSON.stringify({ name: 'partial', scopes: ['read'], view: 'part' }),
    });
    const { token } = issued.body as { token: string };
    const reader = await listen('', undefined, token);
    expect(reader.status).toBe(403);
  });
});
