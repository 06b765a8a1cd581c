import type { Replicas } from '@app/platform';
import { randomUUID } from 'node:crypto';
import { allEngines, openDatabase } from '../../../../test/support/database.js';
import { OfferingStore } from './offering.store.js';
import type { PageItem } from './paging.js';

const items = (count: number, padding = 0): PageItem[] =>
  Array.from({ length: count }, (_, i) => ({
    key: `a://${i}`,
    json: JSON.stringify({ uri: `a://${i}`, name: `line\nend ${'x'.repeat(padding)}` }),
  }));

describe.each(allEngines)(`${OfferingStore.name} on %s`, (engine) => {
  let opened: Awaited<ReturnType<typeof openDatabase>>;
  let store: OfferingStore;
  let told: string[][];

  beforeAll(async () => {
    opened = await openDatabase(engine);
    const replicas = {
      tell: async (topic: string, ids: string[]) => void told.push([topic, ...ids]),
    };
    store = new OfferingStore(opened.database, replicas as unknown as Replicas);
  });
  beforeEach(() => {
    told = [];
  });
  afterAll(() => opened.close());

  async function server(): Promise<string> {
    const id = randomUUID();
    await opened.database.direct.query(
      `INSERT INTO mcp.external_servers (id, name, transport_type, connection_config, status)
       VALUES ($1, $2, 'STDIO', '{}', 'CONNECTED')`,
      [id, `s-${id}`],
    );
    return id;
  }

  async function loaded(...ids: string[]): Promise<Record<string, string[]>> {
    const lists: Record<string, string[]> = {};
    for await (const { serverId, kind, definitions } of store.load(ids)) {
      (lists[`${ids.indexOf(serverId)} ${kind}`] ??= []).push(...definitions);
    }
    return lists;
  }

  it('loads the last written lists in order, one or many', async () => {
    const [a, b] = [await server(), await server()];
    await store.write(a, 'resources', items(5));
    await store.write(a, 'resources', items(3));
    await store.write(a, 'prompts', items(1));
    await store.write(b, 'resources', items(2));
    expect(await loaded(a, b)).toEqual({
      '0 resources': items(3).map(({ json }) => json),
      '0 prompts': items(1).map(({ json }) => json),
      '1 resources': items(2).map(({ json }) => json),
    });
    expect(told).toContainEqual(['offerings', b]);
  });

  it('keeps a list of many parts in order', async () => {
    const id = await server();
    await store.write(id, 'resources', items(2_000, 1_000));
    expect((await loaded(id))['0 resources']).toEqual(items(2_000, 1_000).map(({ json }) => json));
  });

  it('distinguishes an empty list from none', async () => {
    const id = await server();
    await store.write(id, 'resources', []);
    await store.write(id, 'prompts', items(1));
    await store.write(id, 'prompts', undefined);
    expect(await loaded(id)).toEqual({ '0 resources': [] });
  });

  it('deletes the lists of a removed server, and stores nothing for it afterwards', async () => {
    const id = await server();
    await store.write(id, 'resources', items(1));
    await opened.database.direct.query('DELETE FROM mcp.external_servers WHERE id = $1', [id]);
    expect(await loaded(id)).toEqual({});
    await store.write(id, 'resources', items(1));
    expect(await loaded(id)).toEqual({});
  });
});
