import { type ClientLimits, Shares } from '@app/platform';
import { rpcCode, RpcError } from '@app/mcp-protocol';
import type { McpSurface } from '../surface.js';

/** Limit for one session, or one `subscriptions/listen`. */
export const MAX_SUBSCRIPTIONS = 1_000;
/** Limit for all clients; when it is reached, each principal keeps its share. */
const MAX_ALL = 100_000;
const MAX_URI_LENGTH = 8_192;

export class TooManySubscriptions extends RpcError {
  constructor(what: string) {
    super(rpcCode.invalidParams, what, { error_code: 'LIMIT_REACHED' });
  }
}

/** Counts resource subscriptions by principal. */
export class SubscriptionBudget {
  private readonly used = new Shares();

  constructor(private readonly limits: ClientLimits | undefined) {}

  take(owner: string, ofClient: number): void {
    if (ofClient >= MAX_SUBSCRIPTIONS) {
      this.refuse(
        owner,
        `At most ${MAX_SUBSCRIPTIONS} resources can be subscribed to at the same time; unsubscribe from others first`,
      );
    }
    if (!this.used.hasRoom(owner, MAX_ALL)) {
      this.refuse(
        owner,
        `All ${MAX_ALL} subscriptions of this service are in use; try again later`,
      );
    }
    this.used.add(owner);
  }

  release(owner: string): void {
    this.used.remove(owner);
  }

  refuse(owner: string, message: string): never {
    this.limits?.note('subscriptions', owner);
    throw new TooManySubscriptions(message);
  }
}

/** Resource subscriptions of one client: each is opened once, and released with the client. */
export class Subscriptions {
  private readonly held = new Map<string, Promise<() => void>>();
  private isClosed = false;

  constructor(
    private readonly view: McpSurface,
    private readonly owner: string,
    private readonly budget: SubscriptionBudget,
    private readonly onUpdated: (uri: string) => void,
  ) {}

  get uris(): readonly string[] {
    return [...this.held.keys()];
  }

  async add(uri: string): Promise<void> {
    const known = this.held.get(uri);
    if (known) {
      await known;
      return;
    }
    if (this.isClosed) throw new RpcError(rpcCode.serverError, 'The session has ended');
    if (uri.length > MAX_URI_LENGTH) {
      this.budget.refuse(this.owner, `The uri is longer than ${MAX_URI_LENGTH} characters`);
    }
    this.budget.take(this.owner, this.held.size);
    const subscribed = this.view.subscribe(uri, () => this.onUpdated(uri));
    this.held.set(uri, subscribed);
    try {
      await subscribed;
    } catch (error) {
      if (this.held.get(uri) === subscribed) this.forget(uri);
      throw error;
    }
  }

  /** Also works while the server is still being asked: the subscription is released once it is granted. */
  remove(uri: string): void {
    const subscribed = this.held.get(uri);
    if (!subscribed) return;
    this.forget(uri);
    subscribed.then(
      (release) => release(),
      () => undefined,
    );
  }

  close(): void {
    this.isClosed = true;
    for (const uri of this.uris) this.remove(uri);
  }

  private forget(uri: string): void {
    if (this.held.delete(uri)) this.budget.release(this.owner);
  }
}
