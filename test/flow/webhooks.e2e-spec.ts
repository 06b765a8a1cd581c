import { Database } from '@app/platform';
import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';

describe('webhooks', () => {
  let service: TestApp;
  let api: Api;
  let receiver: WebhookReceiver;
  let server: string;
  beforeAll(async () => {
    receiver = await startWebhookReceiver();
    service = await startApp();
    api = new Api(service);
    server = await register('first');
  });
  afterEach(() => receiver.failWhen(() => false));
  afterAll(async () => {
    await service.close();
    await receiver.close();
  });

  const register = (name: string): Promise<string> =>
    api.register({
      name,
      transport_type: 'HTTP',
      connection_config: { base_url: 'http://127.0.0.1:9/mcp' },
      auto_connect: false,
    });
  const create = async (path: string, given: object = {}): Promise<string> => {
    const { status, body } = await api.call('POST', '/webhooks', {
      url: receiver.urlOf(path),
      topics: ['server'],
      ...given,
    });
    expect(status).toBe(201);
    receiver.setSecret(path, String(body['secret']));
    return String(body['id']);
  };
  const change = async (id: string, description: string): Promise<void> => {
    expect((await api.call('PATCH', `/servers/${id}`, { description })).status).toBe(200);
  };
  const updatesAt = (path: string): readonly unknown[] =>
    receiver.of(path).filter(({ event }) => event.data['change'] === 'updated');

  it('send the events of their topics and servers, signed', async () => {
    const other = await register('other');
    await create('/all');
    await create('/one', { servers: ['first'] });
    await create('/health', { topics: ['health'] });
    await change(other, 'a');
    await change(server, 'b');
    await eventually(() => {
      expect(updatesAt('/all')).toHaveLength(2);
      expect(updatesAt('/one')).toHaveLength(1);
    });
    expect(receiver.of('/health')).toEqual([]);
    expect(
      [...receiver.of('/all'), ...receiver.of('/one')].map(({ isSigned }) => isSigned),
    ).toEqual([true, true, true]);
    expect(receiver.of('/one')[0]).toMatchObject({
      messageId: expect.stringMatching(/^msg_\d+_\d+$/),
      event: { topic: 'server', data: { change: 'updated', server: 'first' } },
    });
  });

  it('send again what was refused, in order', async () => {
    const id = await create('/refusing');
    receiver.failWhen((request) => request % 2 === 0);
    for (const text of ['1', '2', '3', '4', '5', '6']) await change(server, text);
    await eventually(() => expect(updatesAt('/refusing')).toHaveLength(6));
    const numbers = receiver.of('/refusing').map(({ event }) => Number(event.id.split('-')[1]));
    expect(numbers).toEqual(numbers.toSorted((one, next) => one - next));
    await eventually(async () =>
      expect((await api.call('GET', `/webhooks/${id}`)).body).toMatchObject({
        waiting: 0,
        dead: 0,
        failing_since: null,
        delivered_at: expect.any(String),
      }),
    );
  });

  it('say what is wrong while nothing is taken, and give an event up in the end', async () => {
    const id = await create('/broken');
    receiver.failWhen(() => true);
    await change(server, 'never taken');
    await eventually(async () =>
      expect((await api.call('GET', `/webhooks/${id}`)).body).toMatchObject({
        waiting: 1,
        last_error: 'it answered 500',
        failing_since: expect.any(String),
      }),
    );
    // As if it had been refused for half a day.
    const database = service.app.get(Database, { strict: false });
    await database.direct.query(
      'UPDATE mcp.webhook_deliveries SET attempts = 23, next_at = now() WHERE webhook_id = $1',
      [id],
    );
    await eventually(async () =>
      expect((await api.call('GET', `/webhooks/${id}`)).body).toMatchObject({
        waiting: 0,
        dead: 1,
      }),
    );
    const { body } = await api.call('GET', '/audit?event=webhook.event_dead');
    expect(body['entries']).toMatchObject([
      {
        outcome: 'failure',
        details: { webhook_id: id, topic: 'server', reason: 'it answered 500' },
      },
    ]);
  });

  it('keep what waits while they are off, and send nothing once they are removed', async () => {
    const [kept, removed] = [await create('/kept'), await create('/removed')];
    await api.call('PATCH', `/webhooks/${kept}`, { enabled: false });
    await change(server, 'told to one');
    await eventually(() => expect(updatesAt('/removed')).toHaveLength(1));
    expect((await api.call('DELETE', `/webhooks/${removed}`)).status).toBe(204);
    await api.call('PATCH', `/webhooks/${kept}`, { enabled: true });
    await change(server, 'told to the other');
    await eventually(() => expect(updatesAt('/kept')).toHaveLength(1));
    expect(updatesAt('/removed')).toHaveLength(1);
    expect((await api.call('GET', `/webhooks/${removed}`)).status).toBe(404);
  });

  it('never show their secret again, nor their URL in the audit log', async () => {
    const id = await create('/secret?key=a-secret-of-the-url');
    const { body } = await api.call('GET', `/webhooks/${id}`);
    expect(body).not.toHaveProperty('secret');
    const audit = await send(service.url, '/api/v1/aggregator/audit', { token: service.token });
    expect(audit.text).not.toMatch(/a-secret-of-the-url|whsec_/);
  });

  it.each([
    ['http://169.254.169.254/', 'url'],
    ['ftp://example.com/', 'url'],
    ['http://example.com/', 'url'],
    ['https://user:password@example.com/', 'url'],
  ])('refuse %s', async (url, field) => {
    const { status, body } = await api.call('POST', '/webhooks', { url, topics: ['server'] });
    expect(status).toBe(422);
    expect(body).toMatchObject({ detail: [{ loc: ['body', field] }] });
  });
});
