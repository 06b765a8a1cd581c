import { jest } from '@jest/globals';
import type { JsonObject } from '@app/platform';
import { ModernSubscription } from './modern-subscription.js';

describe(ModernSubscription.name, () => {
  let capabilities: JsonObject;
  let opened: (JsonObject | undefined)[];
  let end: () => void;
  let cancelled: number;
  let subscription: ModernSubscription;

  beforeEach(() => {
    jest.useFakeTimers();
    capabilities = { tools: { listChanged: true } };
    opened = [];
    cancelled = 0;
    subscription = new ModernSubscription(
      () => capabilities,
      ({ notifications }, onOpened) =>
        new Promise((resolve) => {
          opened.push(notifications as JsonObject);
          end = resolve;
          onOpened(() => {
            cancelled++;
            resolve();
          });
        }),
    );
  });
  afterEach(() => {
    subscription.stop();
    jest.useRealTimers();
  });
  const pass = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);

  it.each([
    [{ tools: { listChanged: true } }, { toolsListChanged: true }],
    [{ prompts: { listChanged: true } }, { promptsListChanged: true }],
    [{ resources: { listChanged: true }, tools: {} }, { resourcesListChanged: true }],
  ])('asks for the changes that the server announces: %j', (announced, asked) => {
    capabilities = announced;
    subscription.start();
    expect(opened).toEqual([asked]);
  });

  it.each([{}, { tools: true }, { tools: {} }, { tools: { listChanged: 'yes' } }])(
    'opens no stream while there is nothing to hear of: %j',
    async (announced) => {
      capabilities = announced as JsonObject;
      subscription.start();
      await pass(1_000_000);
      expect(opened).toEqual([]);
    },
  );

  it('opens a stream with the first resource that is watched, and none after the last', async () => {
    capabilities = {};
    subscription.start();
    subscription.setResource('a:1', true);
    await pass(0);
    expect(opened).toEqual([{ resourceSubscriptions: ['a:1'] }]);
    subscription.setResource('a:2', true);
    await pass(0);
    subscription.setResource('a:1', false);
    await pass(0);
    expect(opened.slice(1)).toEqual([
      { resourceSubscriptions: ['a:1', 'a:2'] },
      { resourceSubscriptions: ['a:2'] },
    ]);
    subscription.setResource('a:2', false);
    await pass(1_000_000);
    expect([opened.length, cancelled]).toEqual([3, 3]);
  });

  it('waits longer each time before it opens a stream that ended, up to a minute', async () => {
    subscription.start();
    const waits: number[] = [];
    for (let i = 0; i < 8; i++) {
      const before = opened.length;
      end();
      let ms = 0;
      while (opened.length === before) {
        await pass(500);
        ms += 500;
      }
      waits.push(ms);
    }
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  });

  it('does not wait when a resource is watched meanwhile, and begins with short waits again', async () => {
    subscription.start();
    for (let i = 0; i < 3; i++) {
      end();
      await pass(60_000);
    }
    end();
    await pass(1);
    subscription.setResource('a:1', true);
    await pass(0);
    expect([opened.length, cancelled]).toEqual([5, 0]);
    end();
    await pass(999);
    expect(opened).toHaveLength(5);
    await pass(1);
    expect(opened).toHaveLength(6);
  });

  it('opens no stream after it is stopped', async () => {
    subscription.start();
    end();
    await pass(10);
    subscription.stop();
    await pass(1_000_000);
    expect([opened.length, jest.getTimerCount()]).toEqual([1, 0]);
  });

  it('does not wait for another stream when it is stopped while one is open', async () => {
    subscription.start();
    subscription.stop();
    end();
    await pass(0);
    expect([opened.length, jest.getTimerCount()]).toEqual([1, 0]);
  });
});
