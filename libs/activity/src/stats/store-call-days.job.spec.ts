import type { Catalogue } from '@app/catalogue';
import { CatalogueReplaced } from '@app/events';
import { Clock, parseEnv } from '@app/platform';
import { Logger } from '@nestjs/common';
import type { CallDayStore } from './call-day.store.js';
import { type CallDay, CallDays, type CountedCall } from './call-days.js';
import { CallHistory } from './call-history.js';
import { ForgetCallsOnCatalogueReplaced } from './forget-calls.on-catalogue-replaced.js';
import { StoreCallDaysJob } from './store-call-days.job.js';

const call = (serverId: string): CountedCall => ({
  serverId,
  tool: 'x',
  milliseconds: 1,
  isError: false,
});

describe(StoreCallDaysJob.name, () => {
  const servers = new Map<string, unknown>();
  const catalogue = { current: { servers } } as unknown as Catalogue;
  let stored: CallDay[];
  let forgotten: string[];
  let failure: Error | undefined;
  let days: CallDays;
  let history: CallHistory;
  let rows: CallDayStore;
  let job: StoreCallDaysJob;
  beforeEach(() => {
    Logger.overrideLogger(false);
    for (const id of ['a', 'b']) servers.set(id, {});
    [stored, forgotten, failure] = [[], [], undefined];
    days = new CallDays();
    history = new CallHistory(new Clock(), days);
    rows = {
      add: (added: CallDay[]) => {
        if (failure) return Promise.reject(failure);
        stored.push(...added);
        return Promise.resolve();
      },
      forgetServer: (id: string) => Promise.resolve(forgotten.push(id)),
    } as unknown as CallDayStore;
    job = new StoreCallDaysJob(days, rows, catalogue, parseEnv({}));
  });

  it('stores each tool once after a minute in which it could not', async () => {
    history.add(call('a'));
    failure = new Error('the database is away');
    await job.store();
    failure = undefined;
    history.add(call('a'));
    await job.store();
    expect(stored).toMatchObject([{ serverId: 'a', tool: 'x', calls: 2 }]);
  });

  it('stores nothing of a server that was removed at another replica, nor shows it', async () => {
    history.add(call('a'));
    history.add(call('b'));
    servers.delete('a');
    const forget = new ForgetCallsOnCatalogueReplaced(catalogue, history, days, rows);
    await forget.handle(new CatalogueReplaced(['a', 'b'], [], [], []));
    expect(forgotten).toEqual(['a']);
    expect(history.pointsOfServers('10m').map(({ serverId }) => serverId)).toEqual(['b']);
    // Of a call that still ran.
    history.add(call('a'));
    await job.store();
    expect(stored.map(({ serverId }) => serverId)).toEqual(['b']);
  });
});
