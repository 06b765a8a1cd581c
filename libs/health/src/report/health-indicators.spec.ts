import type { QueryBus } from '@nestjs/cqrs';
import { HealthIndicatorService } from '@nestjs/terminus';
import { Clock, type Database, DatabaseUnavailable, type Leadership } from '@app/platform';
import type { AuthorizationStore } from '@app/registry';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import {
  DATABASE_AWAY_MS,
  DatabaseIndicator,
  ReadinessIndicator,
  ServersIndicator,
} from './health-indicators.js';

const indicators = new HealthIndicatorService();
const never = new Promise<never>(() => undefined);

describe(DatabaseIndicator.name, () => {
  const indicatorOf = (
    ping: () => Promise<void>,
    clock: Clock = new Clock(),
  ): DatabaseIndicator => {
    const database: Pick<Database, 'ping'> = { ping };
    return new DatabaseIndicator(indicators, database as Database, clock);
  };

  it('is up when the database answers', async () => {
    expect(await indicatorOf(() => Promise.resolve()).check()).toEqual({
      database: { status: 'up' },
    });
  });

  it('reports the reason of the database why rows cannot be written', async () => {
    const full = new DatabaseUnavailable('read-only');
    expect(await indicatorOf(() => Promise.reject(full)).check()).toEqual({
      database: { status: 'down', message: full.message },
    });
  });

  it('hides errors that are not meant for callers', async () => {
    const inner = () => Promise.reject(new Error('SELECT secret'));
    expect(await indicatorOf(inner).check()).toEqual({
      database: { status: 'down', message: 'the database does not answer' },
    });
  });

  it('does not wait for a database that does not answer', async () => {
    const clock = new FakeClock();
    const checked = indicatorOf(() => never, clock).check();
    await clock.advance(2_000);
    expect(await checked).toEqual({
      database: { status: 'down', message: 'the database does not answer' },
    });
  });
});

describe(ReadinessIndicator.name, () => {
  const clock = new FakeClock();
  let asked: number;
  const readiness = (
    heartbeatAt: number | undefined,
    { refusesWrites = false, isKnown = true } = {},
  ): ReadinessIndicator => {
    asked = 0;
    const ping = (): Promise<void> => {
      asked++;
      return Promise.reject(new DatabaseUnavailable('unreachable'));
    };
    const database = { ping, refusesWrites } as unknown as Database;
    const indicator = new DatabaseIndicator(indicators, database, clock);
    const leadership = { heartbeatAt, isKnown } as Leadership;
    return new ReadinessIndicator(indicators, indicator, database, leadership, clock);
  };
  const up = { database: { status: 'up' } };
  const down = { database: { status: 'down' } };

  it('does not ask a database that took the last heartbeat', async () => {
    expect(await readiness(clock.monotonic()).check()).toEqual(up);
    expect(asked).toBe(0);
  });

  it('outlasts an outage of the database for ten seconds', async () => {
    const one = readiness(clock.monotonic());
    await clock.advance(DATABASE_AWAY_MS - 1);
    expect(await one.check()).toEqual(up);
    await clock.advance(1);
    expect(await one.check()).toMatchObject(down);
  });

  it('ends with the lease of a leader that is cut off while other replicas are there', async () => {
    const cutOff = readiness(clock.monotonic(), { isKnown: false });
    expect(await cutOff.check()).toMatchObject(down);
  });

  it('ends at once when writes are refused, and before the first heartbeat', async () => {
    const now = clock.monotonic();
    expect(await readiness(now, { refusesWrites: true }).check()).toMatchObject(down);
    expect(await readiness(undefined).check()).toMatchObject(down);
  });
});

describe(ServersIndicator.name, () => {
  const rows = [
    { id: '1', name: 'a', status: 'ERROR', wanted: true, listFailures: {}, secret: 'x' },
    { id: '2', name: 'b', status: 'DISCONNECTED', wanted: false, listFailures: {}, secret: 'x' },
  ];
  const indicatorOf = (read: () => Promise<unknown>, needed: string[] = []): ServersIndicator =>
    new ServersIndicator(
      indicators,
      { execute: read } as unknown as QueryBus,
      { needed: () => Promise.resolve(new Set(needed)) } as unknown as AuthorizationStore,
      new Clock(),
    );

  it('requests no authorization for a server that was disconnected on purpose', async () => {
    expect(await indicatorOf(() => Promise.resolve(rows), ['1', '2']).check()).toMatchObject({
      servers: { status: 'up', unauthorized: 1 },
    });
  });

  it('is degraded when the servers cannot be read', async () => {
    const gone = () => Promise.reject(new DatabaseUnavailable('unreachable'));
    expect(await indicatorOf(gone).check()).toEqual({
      servers: { status: 'degraded' },
    });
  });
});
