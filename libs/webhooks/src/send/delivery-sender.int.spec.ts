import type { AuditStore } from '@app/access';
import { Clock, type Database, type Leadership } from '@app/platform';
import { UnreadableCredentials } from '@app/registry';
import { Logger } from '@nestjs/common';
import { eventually } from '../../../../test/support/eventually.js';
import type { KnownWebhooks } from '../known-webhooks.js';
import type { Delivery, DeliveryStore, WaitingLane } from '../rows/delivery.store.js';
import type { WebhookStore } from '../rows/webhook.store.js';
import { DeliverySender } from './delivery-sender.js';
import type { PostDelivery } from './post-delivery.js';

interface Post {
  readonly url: string;
  readonly body: string;
  readonly signal: AbortSignal;
  /** With the reason why it was not taken. */
  readonly answer: (reason?: string) => void;
}

/** The sender with rows in memory; the timers are real. */
class Rows {
  readonly urls = new Map<string, string>();
  readonly waiting: Delivery[] = [];
  readonly failures: string[] = [];
  isUnreadable = false;

  add(webhookId: string, lane: string, count: number): void {
    for (let n = 0; n < count; n++) {
      const id = String(this.waiting.length + 1);
      const about = { webhookId, lane, topic: 'server', attempts: 0, messageId: id };
      this.waiting.push({ ...about, id, body: `${lane}${n}` });
    }
  }

  get deliveries(): DeliveryStore {
    const of = (webhookId: string, lane: string) =>
      this.waiting.filter((one) => one.webhookId === webhookId && one.lane === lane);
    return {
      lanes: () =>
        Promise.resolve(
          this.waiting
            .filter((one) => one === of(one.webhookId, one.lane)[0] && this.urls.has(one.webhookId))
            .map((one): WaitingLane => ({ ...one, dueInMs: one.attempts > 0 ? 3_600_000 : 0 })),
        ),
      due: (webhookId: string, lane: string, most: number) =>
        Promise.resolve(of(webhookId, lane).slice(0, most)),
      delete: (ids: readonly string[]) => {
        for (const id of ids) this.remove(id);
        return Promise.resolve();
      },
      postpone: (id: string) => {
        const at = this.waiting.findIndex((one) => one.id === id);
        this.waiting.splice(at, 1, { ...this.waiting[at], attempts: 1 } as Delivery);
        return Promise.resolve();
      },
    } as unknown as DeliveryStore;
  }

  get webhooks(): WebhookStore {
    return {
      target: (id: string) => {
        if (this.isUnreadable) return Promise.reject(new UnreadableCredentials('webhooks w'));
        const url = this.urls.get(id);
        return Promise.resolve(url === undefined ? undefined : { id, url, secret: '' });
      },
      noteDelivered: () => Promise.resolve(),
      noteFailed: (_id: string, reason: string) => Promise.resolve(this.failures.push(reason)),
    } as unknown as WebhookStore;
  }

  private remove(id: string): void {
    this.waiting.splice(
      this.waiting.findIndex((one) => one.id === id),
      1,
    );
  }
}

describe(DeliverySender.name, () => {
  let rows: Rows;
  let posts: Post[];
  let answerAt: (url: string) => boolean;
  let sender: DeliverySender;
  beforeEach(() => {
    Logger.overrideLogger(false);
    rows = new Rows();
    posts = [];
    answerAt = () => false;
    const post = {
      post: ({ url }: { url: string }, { body }: Delivery, signal: AbortSignal) =>
        new Promise<string | undefined>((resolve) => {
          const cut = (): void => resolve('it was cut off');
          const answer = (reason?: string): void => {
            signal.removeEventListener('abort', cut);
            resolve(reason);
          };
          signal.addEventListener('abort', cut);
          posts.push({ url, body, signal, answer });
          if (answerAt(url)) answer();
        }),
    };
    const database = {
      background: { transaction: (work: (tx: unknown) => Promise<unknown>) => work({}) },
    };
    sender = new DeliverySender(
      rows.webhooks,
      { hasEnabled: true, onRedirected: () => () => undefined } as unknown as KnownWebhooks,
      rows.deliveries,
      post as unknown as PostDelivery,
      database as unknown as Database,
      {} as AuditStore,
      { leads: true, onChange: () => undefined } as unknown as Leadership,
      new Clock(),
    );
  });
  afterEach(() => sender.beforeApplicationShutdown());

  const bodiesAt = (url: string): readonly string[] =>
    posts.filter((one) => one.url === url).map(({ body }) => body);

  it('sends the rest of what waits to the new URL, and counts no cut as a refusal', async () => {
    rows.urls.set('w', 'old');
    rows.add('w', 'a', 50);
    sender.onApplicationBootstrap();
    await eventually(() => expect(posts).toHaveLength(1));
    posts[0]?.answer();
    await eventually(() => expect(posts).toHaveLength(2));
    rows.urls.set('w', 'new');
    answerAt = (url) => url === 'new';
    sender.forget('w');
    expect(posts[1]?.signal.aborted).toBe(true);
    await eventually(() => expect(rows.waiting).toEqual([]));
    expect(bodiesAt('old')).toEqual(['a0', 'a1']);
    expect(bodiesAt('new')).toHaveLength(49);
    expect(bodiesAt('new')[0]).toBe('a1');
    expect(rows.failures).toEqual([]);
  });

  it('stops between two events of a webhook that is removed', async () => {
    rows.urls.set('w', 'old');
    rows.add('w', 'a', 50);
    answerAt = () => {
      // Its answer is there, and the next event is not on its way yet.
      if (posts.length === 3) {
        rows.urls.delete('w');
        sender.forget('w');
      }
      return true;
    };
    sender.onApplicationBootstrap();
    rows.urls.set('other', 'other');
    rows.add('other', 'a', 60);
    await eventually(() => expect(bodiesAt('other')).toHaveLength(60));
    expect(bodiesAt('old').length).toBeLessThanOrEqual(3);
    expect(rows.failures).toEqual([]);
  });

  it('sends to a webhook although the receivers of others hold every place', async () => {
    for (const id of ['1', '2', '3', '4']) {
      rows.urls.set(id, 'slow');
      for (let lane = 0; lane < 10; lane++) rows.add(id, `lane-${lane}`, 1);
    }
    rows.urls.set('5', 'fast');
    rows.add('5', 'a', 45);
    answerAt = (url) => url === 'fast';
    sender.onApplicationBootstrap();
    await eventually(() => expect(bodiesAt('fast')).toHaveLength(45));
    expect(bodiesAt('slow')).toHaveLength(32);
  });

  it('leaves its place after some events to the lane whose event waits longest', async () => {
    rows.urls.set('w', 'fast');
    const busy = ['0', '1', '2', '3', '4', '5', '6', '7'];
    for (const lane of busy) rows.add('w', lane, 30);
    rows.add('w', 'later', 1);
    for (const lane of busy) rows.add('w', lane, 60);
    answerAt = () => true;
    sender.onApplicationBootstrap();
    await eventually(() => expect(rows.waiting).toEqual([]));
    const later = posts.findIndex(({ body }) => body.startsWith('later'));
    for (const lane of busy) {
      const last = posts.findLastIndex(({ body }) => body.startsWith(lane));
      expect(later).toBeLessThan(last);
    }
  });

  it('notes that the secret of a webhook cannot be decrypted, and waits as after a refusal', async () => {
    rows.urls.set('w', 'old');
    rows.add('w', 'a', 1);
    rows.isUnreadable = true;
    sender.onApplicationBootstrap();
    await eventually(() => expect(rows.failures).toEqual([expect.stringContaining('decrypted')]));
    expect(rows.waiting[0]?.attempts).toBe(1);
  });
});
