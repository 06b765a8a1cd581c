import { DataSource } from 'typeorm';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { testEnv } from '../../../../test/support/env.js';
import { eventually } from '../../../../test/support/eventually.js';
import { createDatabase } from '../../../../test/support/postgres.js';
import { Database } from './database.js';
import { type ReplicaNews, Replicas } from './replicas.js';

describe(Replicas, () => {
  const opened: { replicas: Replicas; source: DataSource }[] = [];
  let url: string;

  const replica = async (settings: Record<string, string>) => {
    const source = await new DataSource({ type: 'postgres', url }).initialize();
    const clock = new FakeClock();
    const env = testEnv('unused', settings);
    const replicas = new Replicas(new Database(source), clock, env);
    const heard: ReplicaNews[] = [];
    replicas.hear((news) => heard.push(news));
    replicas.onModuleInit();
    opened.push({ replicas, source });
    return { replicas, clock, heard, source };
  };
  const shared = () => ({ DATABASE_URL: url, MCP_CREDENTIAL_KEY: 'a-key-for-this-test-only' });
  /** Both hear, which each is told by a hint that anything may have changed. */
  const two = async () => {
    const both = [await replica(shared()), await replica(shared())] as const;
    for (const { heard } of both) await eventually(() => expect(heard).toEqual([{ ids: [] }]));
    return both;
  };

  beforeEach(async () => {
    url = await createDatabase();
  });
  afterEach(async () => {
    for (const { replicas, source } of opened.splice(0)) {
      await replicas.onModuleDestroy();
      await source.destroy();
    }
  });

  it('tell each other what changed, and themselves nothing', async () => {
    const [one, other] = await two();
    await one.replicas.tell('tools', ['a', 'b']);
    await other.replicas.tell('servers');
    await eventually(() => {
      expect(other.heard.slice(1)).toMatchObject([{ topic: 'tools', ids: ['a', 'b'] }]);
      expect(one.heard.slice(1)).toMatchObject([{ topic: 'servers', ids: [] }]);
    });
  });

  it('tell of everything where the names of it would not fit', async () => {
    const [one, other] = await two();
    await one.replicas.tell(
      'tools',
      Array.from({ length: 1_000 }, (_, i) => `server-${i}`),
    );
    await eventually(() => expect(other.heard[1]).toMatchObject({ topic: 'tools', ids: [] }));
  });

  it('take a broken connection for a change of anything, and hear again', async () => {
    const [one, other] = await two();
    await one.source.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE query LIKE 'LISTEN%' AND datname = current_database()`,
    );
    await eventually(async () => {
      await other.clock.advance(1_000);
      expect(other.heard).toEqual([{ ids: [] }, { ids: [] }]);
    });
    await one.replicas.tell('tools', ['a']);
    await eventually(() => expect(other.heard[2]).toMatchObject({ ids: ['a'] }));
  });

  it('do not pass on what somebody else sends there', async () => {
    const [one, other] = await two();
    for (const text of ['', 'hello', '{"from":1}', '[]']) {
      await one.source.query(`SELECT pg_notify('switchboard_news', $1)`, [text]);
    }
    await one.replicas.tell('tools');
    await eventually(() => expect(other.heard).toHaveLength(2));
  });

  it('are none with the embedded database', async () => {
    const alone = await replica({});
    await alone.replicas.tell('tools');
    expect(alone.heard).toEqual([]);
  });
});
