import { Injectable, Logger } from '@nestjs/common';
import type { UpstreamSession } from '@app/mcp-client';
import { SessionPool } from '@app/sessions';

const SUBSCRIBE_WITHIN_MS = 10_000;
const TOLD_AT_ONCE = 100;

/** One resource of one server and its listeners. */
interface Subscription {
  readonly uri: string;
  readonly listeners: Set<() => void>;
  /** The session in which the server knows the subscription. */
  heldBy: UpstreamSession | undefined;
  /** Serialises messages about one resource, so that the last request wins. */
  last: Promise<void>;
}

/** One subscription per resource at the server, shared by all clients. */
@Injectable()
export class ResourceSubscriptions {
  private readonly logger = new Logger(ResourceSubscriptions.name);
  private readonly servers = new Map<string, Map<string, Subscription>>();

  constructor(private readonly sessions: SessionPool) {}

  /** Returns an idempotent function that ends the subscription. */
  async subscribe(
    serverId: string,
    uri: string,
    session: UpstreamSession,
    onUpdated: () => void,
  ): Promise<() => void> {
    const subscription = this.of(serverId, uri);
    // A new function per call: a client that subscribes twice counts twice.
    const listener = (): void => onUpdated();
    subscription.listeners.add(listener);
    const release = (): void => {
      if (subscription.listeners.delete(listener)) this.settleLater(serverId, subscription);
    };
    try {
      await this.settle(serverId, subscription, session);
      return release;
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Whether a client of this process waits for updates of a server, or of any. */
  has(serverId?: string): boolean {
    return serverId === undefined ? this.servers.size > 0 : this.servers.has(serverId);
  }

  /** Handles `resources/updated` of a server. */
  updated(serverId: string, uri: string): void {
    const listeners = this.servers.get(serverId)?.get(uri)?.listeners;
    if (listeners) this.tell([...listeners], listeners);
  }

  /** Calls the first listeners at once and the others in later turns of the event loop. */
  private tell(all: readonly (() => void)[], listeners: ReadonlySet<() => void>): void {
    for (const listener of all.slice(0, TOLD_AT_ONCE)) if (listeners.has(listener)) listener();
    const left = all.slice(TOLD_AT_ONCE);
    if (left.length > 0) setImmediate(() => this.tell(left, listeners));
  }

  async restore(serverId: string, session: UpstreamSession): Promise<void> {
    const subscriptions = [...(this.servers.get(serverId)?.values() ?? [])];
    const outcomes = await Promise.allSettled(
      subscriptions.map((subscription) => {
        // A session that was renewed under a new id has lost its subscriptions too.
        subscription.last = subscription.last.then(() => {
          subscription.heldBy = undefined;
        });
        return this.settle(serverId, subscription, session);
      }),
    );
    const lost = outcomes.filter((outcome) => outcome.status === 'rejected').length;
    if (lost > 0) this.logger.warn({ server_id: serverId, lost }, 'resource.subscriptions_lost');
  }

  private of(serverId: string, uri: string): Subscription {
    let subscriptions = this.servers.get(serverId);
    if (!subscriptions) this.servers.set(serverId, (subscriptions = new Map()));
    let subscription = subscriptions.get(uri);
    if (!subscription) {
      subscription = { uri, listeners: new Set(), heldBy: undefined, last: Promise.resolve() };
      subscriptions.set(uri, subscription);
    }
    return subscription;
  }

  private settleLater(serverId: string, subscription: Subscription): void {
    const session = this.sessions.get(serverId);
    this.settle(serverId, subscription, session).catch((error: unknown) => {
      this.logger.debug(
        { serverId, err: error },
        'a server did not take the end of a subscription',
      );
    });
  }

  /** Subscribes or unsubscribes at the server according to the listeners; rejects when the server refuses. */
  private settle(
    serverId: string,
    subscription: Subscription,
    session: UpstreamSession | undefined,
  ): Promise<void> {
    const settled = subscription.last.then(() => this.send(serverId, subscription, session));
    subscription.last = settled.catch(() => undefined);
    return settled;
  }

  private async send(
    serverId: string,
    subscription: Subscription,
    session: UpstreamSession | undefined,
  ): Promise<void> {
    const { uri, listeners, heldBy } = subscription;
    const isWanted = listeners.size > 0;
    const isHeld = session !== undefined && heldBy === session;
    subscription.heldBy = isWanted ? session : undefined;
    try {
      if (!session || isWanted === isHeld) return;
      const method = isWanted ? 'resources/subscribe' : 'resources/unsubscribe';
      await session.request(method, { uri }, { timeoutMs: SUBSCRIBE_WITHIN_MS });
    } catch (error) {
      subscription.heldBy = undefined;
      throw error;
    } finally {
      if (!isWanted && listeners.size === 0) this.forget(serverId, subscription);
    }
  }

  private forget(serverId: string, subscription: Subscription): void {
    const subscriptions = this.servers.get(serverId);
    if (subscriptions?.get(subscription.uri) !== subscription) return;
    subscriptions.delete(subscription.uri);
    if (subscriptions.size === 0) this.servers.delete(serverId);
  }
}
