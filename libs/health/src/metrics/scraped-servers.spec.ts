import type { QueryBus } from '@nestjs/cqrs';
import { DatabaseUnavailable, histogram, ServerSeries } from '@app/platform';
import type { Server } from '@app/registry';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { TestMetrics } from '../../../../test/support/metrics.js';
import { ScrapedServers } from './scraped-servers.js';

const duration = histogram({ name: 'duration', help: 'h', labelNames: ['server'], buckets: [1] });

describe(ScrapedServers.name, () => {
  let rows: () => Promise<unknown>;
  let metrics: TestMetrics;
  let clock: FakeClock;
  let servers: ScrapedServers;
  const row = (name: string, wanted = true): Pick<Server, 'id' | 'name' | 'wanted'> => ({
    id: name,
    name,
    wanted,
  });
  beforeEach(() => {
    metrics = new TestMetrics();
    clock = new FakeClock();
    const queries = { execute: () => rows() } as unknown as QueryBus;
    servers = new ScrapedServers(queries, new ServerSeries(metrics.registry), clock);
    const observed = metrics.of(duration);
    for (const server of ['a', 'b']) observed.observe({ server }, 0.5);
  });
  const series = async (): Promise<string[]> =>
    [...(await metrics.registry.metrics()).matchAll(/_count\{server="(.*)"\}/g)].map(
      ([, server = '']) => server,
    );

  it('removes the series of names without a row, and only those', async () => {
    rows = () => Promise.resolve([row('a', false)]);
    await servers.refresh();
    expect(await series()).toEqual(['a']);
  });

  it('does not count servers that were disconnected on purpose', async () => {
    rows = () => Promise.resolve([row('a'), row('b', false)]);
    await servers.refresh();
    expect(servers.wanted.map(({ name }) => name)).toEqual(['a']);
  });

  it('keeps series and servers while the rows cannot be read', async () => {
    rows = () => Promise.resolve([row('a'), row('b')]);
    await servers.refresh();
    rows = () => Promise.reject(new DatabaseUnavailable('unreachable'));
    await servers.refresh();
    expect([await series(), servers.wanted.length]).toEqual([['a', 'b'], 2]);
  });

  it('does not delay a scrape when the database does not answer', async () => {
    rows = () => new Promise(() => undefined);
    const refreshed = servers.refresh();
    await clock.advance(2_000);
    await refreshed;
    expect(await series()).toEqual(['a', 'b']);
  });
});
