import type { ActivityFeed } from '@app/activity';
import type { Clock, Replicas } from '@app/platform';
import { Logger } from '@nestjs/common';
import { setImmediate as turn } from 'node:timers/promises';
import type { KnownWebhooks } from '../known-webhooks.js';
import type { DeliveryStore, NewDelivery } from '../rows/delivery.store.js';
import { DeliveryOutbox } from './delivery-outbox.js';
import type { DeliverySender } from './delivery-sender.js';

type StoreEvent = Parameters<ActivityFeed['storeWith']>[0];

interface Attempt {
  readonly bodies: readonly string[];
  readonly settle: (error?: Error) => void;
}

describe(DeliveryOutbox.name, () => {
  let attempts: Attempt[];
  let pauses: (() => void)[];
  let store: StoreEvent;
  let outbox: DeliveryOutbox;
  beforeEach(() => {
    Logger.overrideLogger(false);
    [attempts, pauses] = [[], []];
    const feed = { storeWith: (given: StoreEvent) => (store = given) };
    const deliveries = {
      add: (rows: readonly NewDelivery[]) =>
        new Promise<void>((resolve, reject) => {
          const bodies = rows.map(({ lane, body }) => `${lane} ${body}`);
          attempts.push({ bodies, settle: (error) => (error ? reject(error) : resolve()) });
        }),
    };
    const clock = {
      sleep: (_ms: number, signal: AbortSignal) =>
        new Promise<void>((resolve) => {
          pauses.push(resolve);
          signal.addEventListener('abort', () => resolve());
        }),
    };
    outbox = new DeliveryOutbox(
      feed as unknown as ActivityFeed,
      { wanting: () => ['w'] } as unknown as KnownWebhooks,
      deliveries as unknown as DeliveryStore,
      { wake: () => undefined } as unknown as DeliverySender,
      { tell: () => Promise.resolve() } as unknown as Replicas,
      clock as unknown as Clock,
    );
    outbox.onModuleInit();
  });

  /** Resolves to true when the change may be answered. */
  const tell = (text: string, serverIds: string[] = ['a']): { isDone: boolean } => {
    const told = { isDone: false };
    void store({ topic: 'server', serverIds, text })?.then(() => (told.isDone = true));
    return told;
  };

  it('stores an event before its change is answered, and those that come meanwhile together', async () => {
    const first = tell('1');
    await turn();
    const later = [tell('2'), tell('3', []), tell('4', ['a', 'b'])];
    await turn();
    expect(attempts.map(({ bodies }) => bodies)).toEqual([['a 1']]);
    expect(first.isDone).toBe(false);
    attempts[0]?.settle();
    await turn();
    expect(first.isDone).toBe(true);
    expect(attempts[1]?.bodies).toEqual(['a 2', 'server 3', 'server 4']);
    attempts[1]?.settle();
    await turn();
    expect(later.every(({ isDone }) => isDone)).toBe(true);
  });

  it('makes one attempt a second in an outage, however many events come, and loses none', async () => {
    const first = tell('1');
    await turn();
    attempts[0]?.settle(new Error('away'));
    await turn();
    expect(first.isDone).toBe(true);
    const later = Array.from({ length: 100 }, (_, n) => tell(`${n + 2}`));
    await turn();
    expect([attempts.length, pauses.length]).toEqual([1, 1]);
    pauses[0]?.();
    await turn();
    expect(attempts).toHaveLength(2);
    attempts[1]?.settle(new Error('away'));
    await turn();
    // Each has waited for one attempt.
    expect(later.every(({ isDone }) => isDone)).toBe(true);
    expect([attempts.length, pauses.length]).toEqual([2, 2]);
    pauses[1]?.();
    await turn();
    expect(attempts[2]?.bodies).toHaveLength(101);
    attempts[2]?.settle();
    await turn();
    expect([attempts.length, pauses.length]).toEqual([3, 2]);
  });

  it('tries once more when the service stops', async () => {
    tell('1');
    await turn();
    attempts[0]?.settle(new Error('away'));
    await turn();
    const stopping = outbox.beforeApplicationShutdown();
    await turn();
    expect(attempts[1]?.bodies).toEqual(['a 1']);
    attempts[1]?.settle(new Error('away'));
    await stopping;
    await turn();
    expect([attempts.length, pauses.length]).toEqual([2, 1]);
  });
});
