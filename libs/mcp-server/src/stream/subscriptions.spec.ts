import { rpcCode } from '@app/mcp-protocol';
import { setImmediate as turn } from 'node:timers/promises';
import { NotedLimits } from '../fake-endpoint.js';
import { FakeView } from '../fake-view.js';
import { SubscriptionBudget, Subscriptions, TooManySubscriptions } from './subscriptions.js';

let view: FakeView;
let limits: NotedLimits;
let budget: SubscriptionBudget;
let updated: string[];
let subscriptions: Subscriptions;
beforeEach(() => {
  view = new FakeView();
  limits = new NotedLimits();
  budget = new SubscriptionBudget(limits);
  updated = [];
  subscriptions = new Subscriptions(view, 'alice', budget, (uri) => updated.push(uri));
});

describe(Subscriptions.name, () => {
  it('tell of updates of their resources, until they are removed', async () => {
    await subscriptions.add('a:');
    await subscriptions.add('b:');
    view.updated('a:');
    view.updated('c:');
    expect([updated, subscriptions.uris]).toEqual([['a:'], ['a:', 'b:']]);
    subscriptions.remove('a:');
    subscriptions.remove('c:');
    await turn();
    view.updated('a:');
    expect([updated, subscriptions.uris, view.subscribed]).toEqual([['a:'], ['b:'], ['b:']]);
  });

  it('ask the server once for a resource, and wait for it twice', async () => {
    let grant: () => void = () => undefined;
    view.granting = new Promise((resolve) => (grant = resolve));
    const granted: number[] = [];
    const both = [1, 2].map((which) => subscriptions.add('a:').then(() => granted.push(which)));
    await turn();
    expect([view.subscribed, granted]).toEqual([['a:'], []]);
    grant();
    await Promise.all(both);
    expect(view.subscribed).toEqual(['a:']);
  });

  it('do not keep what the server refuses', async () => {
    await expect(subscriptions.add('no:such')).rejects.toThrow('no such resource');
    expect(subscriptions.uris).toEqual([]);
    for (let count = 0; count < 1_000; count++) await subscriptions.add(`a:${count}`);
    await expect(subscriptions.add('b:')).rejects.toThrow(TooManySubscriptions);
  });

  it('release a resource that is removed before the server has granted it', async () => {
    let grant: () => void = () => undefined;
    view.granting = new Promise((resolve) => (grant = resolve));
    const [one, refused] = [subscriptions.add('a:'), subscriptions.add('no:such')];
    const failed = expect(refused).rejects.toThrow('no such resource');
    subscriptions.remove('a:');
    subscriptions.remove('no:such');
    // The resource may be subscribed to again meanwhile.
    const again = subscriptions.add('a:');
    grant();
    await Promise.all([one, again, failed]);
    await turn();
    expect([view.subscribed, subscriptions.uris]).toEqual([['a:'], ['a:']]);
  });

  it('keep the second subscription when the first one is refused late', async () => {
    let refuse: (error: Error) => void = () => undefined;
    view.subscribe = () => new Promise((_, reject) => (refuse = reject));
    const first = subscriptions.add('a:');
    subscriptions.remove('a:');
    const refuseFirst = refuse;
    const second = subscriptions.add('a:');
    refuseFirst(new Error('no'));
    await expect(first).rejects.toThrow('no');
    expect(subscriptions.uris).toEqual(['a:']);
    refuse(new Error('never'));
    await expect(second).rejects.toThrow('never');
    expect(subscriptions.uris).toEqual([]);
  });

  it('end with their client', async () => {
    await subscriptions.add('a:');
    subscriptions.close();
    await turn();
    expect([view.subscribed, subscriptions.uris]).toEqual([[], []]);
    await expect(subscriptions.add('b:')).rejects.toMatchObject({
      message: 'The session has ended',
      body: { code: rpcCode.serverError },
    });
  });

  it('have a URI of a sensible length', async () => {
    await subscriptions.add('x'.repeat(8_192));
    const refused = expect(subscriptions.add('x'.repeat(8_193))).rejects;
    await refused.toThrow('The uri is longer than 8192 characters');
    expect(limits.noted).toEqual(['subscriptions alice']);
  });

  it('are at most a thousand, and make room when one is removed', async () => {
    for (let count = 0; count < 1_000; count++) await subscriptions.add(`a:${count}`);
    await expect(subscriptions.add('b:')).rejects.toMatchObject({
      body: {
        code: rpcCode.invalidParams,
        message:
          'At most 1000 resources can be subscribed to at the same time; unsubscribe from others first',
        data: { error_code: 'LIMIT_REACHED' },
      },
    });
    expect(limits.noted).toEqual(['subscriptions alice']);
    subscriptions.remove('a:0');
    await subscriptions.add('b:');
    expect(subscriptions.uris).toHaveLength(1_000);
  });
});

describe(SubscriptionBudget.name, () => {
  it('leaves each principal its share when all are in use', () => {
    for (let count = 0; count < 100_000; count++) budget.take('alice', 0);
    expect(() => budget.take('alice', 0)).toThrow(
      'All 100000 subscriptions of this service are in use; try again later',
    );
    expect(limits.noted).toEqual(['subscriptions alice']);
    budget.take('bob', 0);
    budget.release('alice');
    budget.release('alice');
    budget.take('alice', 0);
    expect(() => budget.take('alice', 0)).toThrow(TooManySubscriptions);
  });
});
