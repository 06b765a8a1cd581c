import type { ClientLimits, SharedBytes, UnsentBytes } from '@app/platform';
import { setImmediate } from 'node:timers/promises';
import { sharedBytesOf } from './sse-stream.js';
import { type McpSurface, notificationOf, type ServerChange } from '../surface.js';

/** Receivers that are notified in one turn of the event loop. */
const LOOKED_AT_ONCE = 2_000;
const TOLD_AT_ONCE = 100;
/** Maximum number of queued changes; further changes are dropped. */
const MAX_QUEUED_BYTES = 16 * 1_048_576;
const MAX_QUEUED = 10_000;

/** A client that receives changes of a view. */
export interface Receiver {
  hears(change: ServerChange): boolean;
  receive(change: ServerChange, written: SharedBytes): void;
}

/** Receivers of changes, by view. A change is serialised once, and every receiver gets the same bytes. */
export class Audiences {
  private readonly audiences = new Map<McpSurface, Audience>();

  constructor(
    private readonly unsent: UnsentBytes,
    private readonly limits: ClientLimits | undefined,
  ) {}

  /** Adds a receiver; the returned function removes it. */
  join(view: McpSurface, receiver: Receiver): () => void {
    let audience = this.audiences.get(view);
    if (!audience) {
      audience = new Audience(view, this.unsent, this.limits);
      this.audiences.set(view, audience);
    }
    const joined = audience;
    joined.add(receiver);
    return () => {
      if (joined.remove(receiver) === 0 && this.audiences.get(view) === joined) {
        this.audiences.delete(view);
        joined.close();
      }
    };
  }
}

interface Queued {
  readonly key: string | undefined;
  readonly change: ServerChange;
  readonly written: SharedBytes;
}

class Audience {
  private readonly receivers = new Set<Receiver>();
  private readonly queue: Queued[] = [];
  private readonly waiting = new Set<string>();
  private queuedBytes = 0;
  private isTelling = false;
  private readonly stopWatching: () => void;

  constructor(
    view: McpSurface,
    private readonly unsent: UnsentBytes,
    private readonly limits: ClientLimits | undefined,
  ) {
    this.stopWatching = view.watch((change) => this.tell(change));
  }

  add(receiver: Receiver): void {
    this.receivers.add(receiver);
  }

  /** Returns the number of remaining receivers. */
  remove(receiver: Receiver): number {
    this.receivers.delete(receiver);
    return this.receivers.size;
  }

  close(): void {
    this.stopWatching();
    for (const { written } of this.queue.splice(0)) this.unsent.letGo(written);
    this.waiting.clear();
    this.queuedBytes = 0;
  }

  private tell(change: ServerChange): void {
    const key = keyOf(change);
    // An equal change is already queued.
    if (key !== undefined && this.waiting.has(key)) return;
    if (this.queue.length >= MAX_QUEUED || this.queuedBytes > MAX_QUEUED_BYTES) {
      this.limits?.note('queued_notifications', 'all');
      return;
    }
    if (!this.isTelling && !this.isHeard(change)) return;
    const written = sharedBytesOf({ jsonrpc: '2.0', ...notificationOf(change) });
    this.unsent.keep(written);
    this.queue.push({ key, change, written });
    this.queuedBytes += written.size;
    if (key !== undefined) this.waiting.add(key);
    if (!this.isTelling) void this.tellAll();
  }

  private isHeard(change: ServerChange): boolean {
    for (const receiver of this.receivers) if (receiver.hears(change)) return true;
    return false;
  }

  /** Notifies the first receivers at once, the others in later turns of the event loop; changes stay in order. */
  private async tellAll(): Promise<void> {
    this.isTelling = true;
    for (let next = this.queue.shift(); next; next = this.queue.shift()) {
      this.queuedBytes -= next.written.size;
      if (next.key !== undefined) this.waiting.delete(next.key);
      try {
        await this.tellEach(next);
      } finally {
        this.unsent.letGo(next.written);
      }
    }
    this.isTelling = false;
  }

  private tellEach({ change, written }: Queued): Promise<void> | undefined {
    const receivers = [...this.receivers];
    const tellFrom = (start: number): Promise<void> | undefined => {
      let told = 0;
      for (let at = start; at < receivers.length; at++) {
        if (told >= TOLD_AT_ONCE || at - start >= LOOKED_AT_ONCE) {
          return setImmediate().then(() => tellFrom(at));
        }
        const receiver = receivers[at];
        if (!receiver || !this.receivers.has(receiver) || !receiver.hears(change)) continue;
        receiver.receive(change, written);
        told += 1;
      }
      return undefined;
    };
    return tellFrom(0);
  }
}

/** Changes with the same key are interchangeable, so one of them in the queue is enough. */
function keyOf(change: ServerChange): string | undefined {
  return change.kind === 'log' ? undefined : change.kind;
}
