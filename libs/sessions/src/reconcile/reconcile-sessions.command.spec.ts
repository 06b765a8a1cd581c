import type { CommandBus, QueryBus } from '@nestjs/cqrs';
import type { Leadership } from '@app/platform';
import { testEnv } from '../../../../test/support/env.js';
import type { ServerFolders } from '../connect/server-folders.js';
import type { SessionPool } from '../keep/session-pool.js';
import type { StdioPlace } from '../pass/stdio-place.js';
import { ReconcileSessions, ReconcileSessionsHandler } from './reconcile-sessions.command.js';

describe('comparing sessions with the rows', () => {
  let reads: number;
  let leadership: { leads: boolean; isAlone: () => Promise<boolean> };
  let pool: { isUnused: boolean; keptIds: () => string[] };
  let handler: ReconcileSessionsHandler;

  beforeEach(() => {
    reads = 0;
    leadership = { leads: false, isAlone: () => Promise.resolve(false) };
    pool = { isUnused: true, keptIds: () => [] };
    const queries = {
      execute: () => {
        reads += 1;
        return Promise.resolve([]);
      },
    };
    handler = new ReconcileSessionsHandler(
      pool as unknown as SessionPool,
      leadership as Leadership,
      {} as CommandBus,
      queries as unknown as QueryBus,
      { ids: () => Promise.resolve([]) } as unknown as ServerFolders,
      {} as StdioPlace,
      testEnv('unused'),
    );
  });

  const readsOf = async (times: number): Promise<number> => {
    const before = reads;
    for (let i = 0; i < times; i++) await handler.execute(new ReconcileSessions());
    return reads - before;
  };

  it('reads no rows, after the first time, at a replica without sessions that does not lead', async () => {
    expect(await readsOf(3)).toBe(1);
  });

  it('reads them each time once the replica leads, or has a session or a client that waits for one', async () => {
    await readsOf(1);
    leadership.leads = true;
    expect(await readsOf(2)).toBe(2);
    leadership.leads = false;
    pool.isUnused = false;
    expect(await readsOf(2)).toBe(2);
  });
});
