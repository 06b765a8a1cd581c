import { DataSource } from 'typeorm';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { testEnv } from '../../../../test/support/env.js';
import { eventually } from '../../../../test/support/eventually.js';
import { createDatabase, postgresVersions } from '../../../../test/support/postgres.js';
import { Database } from '../database/database.js';
import { ControlConnection } from './control-connection.js';
import { type ReplicaNews, Replicas } from './replicas.js';

describe.each(postgresVersions)(`${Replicas.name} on %s`, (version) => {
  const opened: { control: ControlConnection; source: DataSource }[] = [];
  let url: string;

  const replica = async (settings: Record<string, string>) => {
    const source = await new DataSource({ type: 'postgres', url }).initialize();
    const clock = new FakeClock();
    const env = testEnv('unused', settings);
    const control = new ControlConnection(clock, env);
    const replicas = new Replicas(new Database(source), control);
    const heard: ReplicaNews[] = [];
    replicas.hear((news) => heard.push(news));
    opened.push({ control, source });
    await control.onModuleInit();
    await replicas.onModuleInit();
    return { replicas, clock, heard, source };
  };
  const shared = () => ({ DATABASE_URL: url, MCP_CREDENTIAL_KEY: 'a-key-for-this-test-only' });
  /** Both receive notifications: each got the hint that anything may have changed. */
  const two = async () => {
    const both = [await replica(shared()), await replica(shared())] as const;
    for (const { heard } of both) await eventually(() => expect(heard).toEqual([{ ids: [] }]));
    return both;
  };

  beforeEach(async () => {
    url = await createDatabase({ version });
  });
  afterEach(async () => {
    for (const { control, source } of opened.splice(0)) {
      await control.onApplicationShutdown();
      await source.destroy();
    }
  });

  it('notify each other of changes, but not themselves', async () => {
    const [one, other] = await two();
    await one.replicas.tell('tools', ['a', 'b']);
    await other.replicas.tell('servers');
    await eventually(() => {
      expect(other.heard.slice(1)).toMatchObject([{ topic: 'tools', ids: ['a', 'b'] }]);
      expect(one.heard.slice(1)).toMatchObject([{ topic: 'servers', ids: [] }]);
    });
  });

  it('announce a change of anything when the ids exceed the payload limit', async () => {
    const [one, other] = await two();
    await one.replicas.tell(
      'tools',
      Array.from({ length: 1_000 }, (_, i) => `server-${i}`),
    );
    await eventually(() => expect(other.heard[1]).toMatchObject({ topic: 'tools', ids: [] }));
  });

  it('treat a broken connection as a change of anything, and listen again', async () => {
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

  it('ignore notifications of other programs', async () => {
    const [one, other] = await two();
    for (const text of ['', 'hello', '{"from":1}', '[]']) {
      await one.source.query(`SELECT pg_notify('switchboard_news', $1)`, [text]);
    }
    await one.replicas.tell('tools');
    await eventually(() => expect(other.heard).toHaveLength(2));
  });

  it('are disabled with the embedded database', async () => {
    const alone = await replica({});
    await alone.replicas.tell('tools');
    expect(alone.heard).toEqual([]);
  });
});
