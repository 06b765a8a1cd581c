import { Replicas } from '@app/platform';
import { QUERY_SETTINGS_CHANGED, QuerySettings } from './query-settings.js';
import { QuerySettingsStore } from './query-settings.store.js';
import { ReloadQuerySettingsOnReplicaNews } from './reload-query-settings.on-replica-news.js';

type Listener = Parameters<Replicas['hear']>[0];

describe(QuerySettings, () => {
  let pattern: string;
  let reads: number;
  let isDown: boolean;
  let told: string[];
  let notify: Listener;
  let settings: QuerySettings;

  const currentPattern = async (): Promise<string | undefined> =>
    (await settings.current()).rules[0]?.pattern;
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  beforeEach(() => {
    [pattern, reads, isDown, told] = ['first', 0, false, []];
    const store: Pick<QuerySettingsStore, 'read'> = {
      read: () => {
        reads++;
        const rules = [{ pattern, servers: ['docs'] }];
        return isDown
          ? Promise.reject(new Error('the database is down'))
          : turn().then(() => ({ rules, servers: new Map() }));
      },
    };
    const replicas: Pick<Replicas, 'hear' | 'tell'> = {
      tell: (topic) => Promise.resolve(void told.push(topic)),
      hear: (listener) => {
        notify = listener;
        return () => undefined;
      },
    };
    settings = new QuerySettings(store as QuerySettingsStore, replicas as Replicas);
    new ReloadQuerySettingsOnReplicaNews(replicas as Replicas, settings).onModuleInit();
  });

  it('answers queries from memory once the rows were read', async () => {
    await settings.reload();
    isDown = true;
    for (let i = 0; i < 100; i++) expect(await currentPattern()).toBe('first');
    expect(reads).toBe(1);
  });

  it('shows a change as soon as it returns, even if an older read is running', async () => {
    const running = settings.reload();
    pattern = 'second';
    await settings.changed();
    expect(await currentPattern()).toBe('second');
    await running;
    expect(await currentPattern()).toBe('second');
  });

  it('notifies the other replicas of a change', async () => {
    await settings.changed();
    expect(told).toEqual([QUERY_SETTINGS_CHANGED]);
  });

  it.each([
    ['a change of another replica', { topic: QUERY_SETTINGS_CHANGED, ids: [] }],
    ['notifications that may have been missed', { ids: [] }],
  ])('reads the rows again at %s', async (_, news) => {
    await settings.reload();
    pattern = 'second';
    notify(news);
    await turn();
    await turn();
    expect(await currentPattern()).toBe('second');
  });

  it('reads nothing at news about something else', async () => {
    await settings.reload();
    notify({ topic: 'tools', ids: [] });
    await turn();
    expect(reads).toBe(1);
  });

  it('keeps the last settings while the rows cannot be read', async () => {
    await settings.reload();
    isDown = true;
    await expect(settings.reload()).rejects.toThrow('the database is down');
    expect(await currentPattern()).toBe('first');
  });

  it('never answers with settings that a committed change has replaced', async () => {
    await settings.reload();
    pattern = 'second';
    isDown = true;
    await settings.changed();
    await expect(settings.current()).rejects.toThrow('the database is down');
    isDown = false;
    expect(await currentPattern()).toBe('second');
  });
});
