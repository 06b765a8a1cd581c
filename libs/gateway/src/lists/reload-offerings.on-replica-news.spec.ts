import { DatabaseUnavailable, type ReplicaNews, type Replicas } from '@app/platform';
import { testEnv } from '../../../../test/support/env.js';
import { FakeClock, settle } from '../../../../test/support/fake-clock.js';
import { OFFERINGS_CHANGED } from './offering.store.js';
import type { Offerings } from './offerings.js';
import { ReloadOfferingsOnReplicaNews } from './reload-offerings.on-replica-news.js';

function listening() {
  const clock = new FakeClock();
  const loaded: (readonly string[] | undefined)[] = [];
  const world = { isDown: false };
  let tell: (news: ReplicaNews) => unknown = () => undefined;
  const listener = new ReloadOfferingsOnReplicaNews(
    {
      hear: (heard: typeof tell) => {
        tell = heard;
        return () => undefined;
      },
    } as unknown as Replicas,
    {
      load: (ids?: readonly string[]) => {
        loaded.push(ids);
        return world.isDown
          ? Promise.reject(new DatabaseUnavailable('unreachable'))
          : Promise.resolve();
      },
    } as Offerings,
    clock,
    testEnv('unused'),
  );
  listener.onModuleInit();
  return { clock, loaded, world, tell: (news: ReplicaNews) => tell(news) };
}

describe(ReloadOfferingsOnReplicaNews.name, () => {
  it('reads the lists that another replica stored, and all when it may have missed some', () => {
    const { loaded, tell } = listening();
    tell({ topic: OFFERINGS_CHANGED, ids: ['a'] });
    tell({ topic: 'tools', ids: ['b'] });
    tell({ ids: [] });
    expect(loaded).toEqual([['a'], undefined]);
  });

  it('reads all lists again until it could', async () => {
    const { clock, loaded, world, tell } = listening();
    world.isDown = true;
    tell({ topic: OFFERINGS_CHANGED, ids: ['a'] });
    await settle();
    await clock.advance(60_000);
    const failed = loaded.length;
    expect(failed).toBeGreaterThan(2);
    world.isDown = false;
    await clock.advance(300_000);
    expect(loaded).toHaveLength(failed + 1);
    expect(loaded.at(-1)).toBeUndefined();
  });
});
