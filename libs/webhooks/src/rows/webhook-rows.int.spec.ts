import { Clock, type Database, parseEnv, SettingsStore } from '@app/platform';
import { CredentialVault } from '@app/registry';
import { Logger } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { allEngines, openDatabase } from '../../../../test/support/database.js';
import { DeliveryStore } from './delivery.store.js';
import { type NewWebhook, WebhookStore } from './webhook.store.js';

const KEY = 'a-key-for-this-test-only';
const NEW_KEY = 'another-key-for-this-test';

async function vaultOn(database: Database, key: string, previous?: string) {
  const env = parseEnv({
    MCP_CREDENTIAL_KEY: key,
    ...(previous !== undefined && { MCP_CREDENTIAL_KEY_PREVIOUS: previous }),
  });
  const vault = new CredentialVault(env, new SettingsStore(database));
  await vault.onModuleInit();
  return vault;
}

const newWebhook = (given: Partial<NewWebhook> = {}): NewWebhook => ({
  id: randomUUID(),
  url: 'https://example.com/hook',
  description: null,
  topics: ['server', 'health'],
  serverIds: null,
  enabled: true,
  createdBy: 'ada',
  ...given,
});

describe.each(allEngines)('the rows of webhooks in %s', (engine) => {
  let opened: Awaited<ReturnType<typeof openDatabase>>;
  let database: Database;
  let webhooks: WebhookStore;
  let deliveries: DeliveryStore;
  beforeAll(async () => {
    Logger.overrideLogger(false);
    opened = await openDatabase(engine);
    ({ database } = opened);
    webhooks = new WebhookStore(database, await vaultOn(database, KEY));
    deliveries = new DeliveryStore(database, new Clock());
  });
  afterAll(() => opened.close());

  const insert = async (given: Partial<NewWebhook> = {}): Promise<string> => {
    const webhook = newWebhook(given);
    await database.transaction((tx) => webhooks.insert(webhook, 'whsec_c2VjcmV0', tx));
    return webhook.id;
  };
  const add = (webhookId: string, lane: string, ...bodies: string[]): Promise<void> =>
    deliveries.add(bodies.map((body) => ({ webhookId, lane, topic: 'server', body })));
  const bodies = async (webhookId: string, lane: string): Promise<readonly string[]> =>
    (await deliveries.due(webhookId, lane, 100)).map(({ body }) => body);

  it('hold the secret and the URL sealed, and show everything else', async () => {
    const serverIds = [randomUUID()];
    const url = 'https://example.com/hook?token=CANARY';
    const id = await insert({ serverIds, url, description: 'for ci' });
    expect(await webhooks.get(id)).toMatchObject({
      id,
      url,
      topics: ['server', 'health'],
      serverIds,
      description: 'for ci',
      dead: 0,
      createdAt: expect.any(Date),
    });
    const raw = await database.direct.query('SELECT * FROM mcp.webhooks WHERE id = $1', [id]);
    expect(JSON.stringify(raw)).not.toMatch(/c2VjcmV0|CANARY|example/);
    expect(await webhooks.target(id)).toMatchObject({ url, secret: 'whsec_c2VjcmV0' });
    expect((await webhooks.all()).map((one) => one.url)).toContain(url);
  });

  it('follow the credential key when it is rotated', async () => {
    const id = await insert();
    const rotating = new WebhookStore(database, await vaultOn(database, NEW_KEY, KEY));
    const url = 'https://example.com/plain';
    // As the first versions stored it.
    await database.direct.query('UPDATE mcp.webhooks SET url = $2 WHERE id = $1', [id, url]);
    await database.transaction((tx) => rotating.resealAll(tx));
    await expect(webhooks.target(id)).rejects.toThrow('cannot be decrypted');
    expect(await rotating.target(id)).toMatchObject({ url, secret: 'whsec_c2VjcmV0' });
    // A row that cannot be read hides no other.
    expect((await webhooks.all()).find((one) => one.id === id)).toMatchObject({ url: '' });
    webhooks = rotating;
  });

  it('keep the events of a lane in order, and tell which lanes wait', async () => {
    const id = await insert();
    await add(id, 'a', '1', '2');
    await add(id, 'b', '3');
    await add(id, 'a', '4');
    expect(await bodies(id, 'a')).toEqual(['1', '2', '4']);
    const lanes = (await deliveries.lanes()).filter(({ webhookId }) => webhookId === id);
    expect(lanes).toEqual([
      { webhookId: id, lane: 'a', dueInMs: 0 },
      { webhookId: id, lane: 'b', dueInMs: 0 },
    ]);
    const [first] = await deliveries.due(id, 'a', 1);
    await database.transaction((tx) => deliveries.postpone(first?.id ?? '', 3_600_000, tx));
    expect(await bodies(id, 'a')).toEqual([]);
    const [waiting] = (await deliveries.lanes()).filter(({ lane }) => lane === 'a');
    expect(waiting?.dueInMs).toBeGreaterThan(3_000_000);
    await deliveries.delete([first?.id ?? '']);
    expect(await bodies(id, 'a')).toEqual(['2', '4']);
    expect((await deliveries.waitingOf([id])).get(id)).toBe(3);
  });

  it('tell the lane first whose first event is the oldest', async () => {
    const [one, other] = [await insert(), await insert()];
    await add(one, 'b', '1');
    await add(other, 'a', '2');
    await add(one, 'a', '3');
    const lanes = (await deliveries.lanes()).filter(({ webhookId }) =>
      [one, other].includes(webhookId),
    );
    expect(lanes.map(({ webhookId, lane }) => [webhookId, lane])).toEqual([
      [one, 'b'],
      [other, 'a'],
      [one, 'a'],
    ]);
  });

  it('name an event alike at each attempt, and no two alike, also when row ids start again', async () => {
    const id = await insert();
    await add(id, 'a', '1');
    const [first] = await deliveries.due(id, 'a', 1);
    expect(first?.messageId).toMatch(/^msg_\d+_\d+$/);
    expect((await deliveries.due(id, 'a', 1))[0]?.messageId).toBe(first?.messageId);
    // As after a restore.
    await database.direct.query(
      `UPDATE mcp.webhook_deliveries SET created_at = now() + interval '1 day' WHERE id = $1`,
      [first?.id],
    );
    const [second] = await deliveries.due(id, 'a', 1);
    expect(second?.id).toBe(first?.id);
    expect(second?.messageId).not.toBe(first?.messageId);
  });

  it('send what was refused at once when the webhook has another URL', async () => {
    const id = await insert();
    await add(id, 'a', '1');
    const [first] = await deliveries.due(id, 'a', 1);
    await database.transaction((tx) => deliveries.postpone(first?.id ?? '', 3_600_000, tx));
    await database.transaction((tx) => webhooks.noteFailed(id, 'it answered 500', 0, tx));
    const changed = { ...newWebhook(), url: 'https://example.com/mended' };
    await database.transaction(async (tx) => {
      await webhooks.update(id, changed, true, tx);
      await deliveries.beginAgain(id, tx);
    });
    expect(await deliveries.due(id, 'a', 1)).toMatchObject([{ body: '1', attempts: 0 }]);
    expect(await webhooks.get(id)).toMatchObject({ url: changed.url, lastError: null });
    await database.transaction((tx) => webhooks.noteFailed(id, 'it answered 500', 0, tx));
    await database.transaction((tx) => webhooks.update(id, changed, false, tx));
    expect(await webhooks.get(id)).toMatchObject({
      url: changed.url,
      lastError: 'it answered 500',
    });
  });

  it('drop events beyond the limit, of sessions beyond half of it, and count them', async () => {
    const id = await insert();
    await database.direct.query(
      `INSERT INTO mcp.webhook_deliveries (webhook_id, lane, topic, body)
       SELECT $1, lane, 'server', '' FROM generate_series(1, 24999), unnest('{session,a}'::text[]) AS lane`,
      [id],
    );
    await add(id, 'session', 'a place', 'no place');
    await add(id, 'policy', 'a place', 'no place');
    expect(await webhooks.get(id)).toMatchObject({ dead: 2 });
    expect((await deliveries.waitingOf([id])).get(id)).toBe(50_000);
    expect(await bodies(id, 'policy')).toEqual(['a place']);
    await database.direct.query('DELETE FROM mcp.webhook_deliveries WHERE webhook_id = $1', [id]);
  });

  it('drop events with their webhook, and tell no lane of one that is off', async () => {
    const [off, gone] = [await insert({ enabled: false }), await insert()];
    await add(off, 'a', '1');
    await add(gone, 'a', '1');
    await database.transaction((tx) => webhooks.delete(gone, tx));
    const ids = (await deliveries.lanes()).map(({ webhookId }) => webhookId);
    expect(ids).not.toContain(off);
    expect(ids).not.toContain(gone);
    await add(gone, 'a', 'too late');
    expect(await bodies(gone, 'a')).toEqual([]);
    expect(await webhooks.target(off)).toBeUndefined();
  });

  it('note failures until an event is taken', async () => {
    const id = await insert();
    await database.transaction((tx) => webhooks.noteFailed(id, 'it answered 500', 1, tx));
    expect(await webhooks.get(id)).toMatchObject({
      lastError: 'it answered 500',
      failingSince: expect.any(Date),
      dead: 1,
    });
    await webhooks.noteDelivered(id);
    expect(await webhooks.get(id)).toMatchObject({
      lastError: null,
      failingSince: null,
      deliveredAt: expect.any(Date),
    });
  });
});
