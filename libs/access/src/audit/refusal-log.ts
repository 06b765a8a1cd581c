import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { Clock } from '@app/platform';
import { AuditLosses } from './audit-losses.js';
import { AuditStore } from './audit.store.js';
import { type Actor, ANONYMOUS } from '../authenticate/principal.js';

export interface RefusedRequest {
  readonly actor: Actor;
  readonly method: string;
  /** The pattern of the route; the raw path could contain a secret. */
  readonly route: string;
  readonly status: number;
}

const WINDOW_MS = 60_000;
/** Entries per window for callers without a token, and as many for those with one; further ones share one entry. */
const MAX_ENTRIES = 100;
/** Of these, entries of one caller: a name, or an address without a token. */
const MAX_ENTRIES_OF_ONE = 20;
/** Entries queued while the database is slow. */
const MAX_WAITING = 1_000;
const OTHERS = '(many others)';

interface Repeated {
  readonly refusal: RefusedRequest;
  count: number;
}

/**
 * Writes refused requests to the audit log. The first of its kind is written at once; repetitions within
 * a minute are counted and written as one entry, so that a flood cannot fill the database.
 */
@Injectable()
export class RefusalLog implements BeforeApplicationShutdown {
  private readonly repeats = new Map<string, Repeated>();
  /** Entries used in this window, by caller and by kind (with or without a token). */
  private readonly shares = new Map<string, number>();
  private writing: Promise<void> = Promise.resolve();
  private waiting = 0;

  constructor(
    private readonly audit: AuditStore,
    private readonly clock: Clock,
    private readonly losses: AuditLosses,
  ) {}

  note(refusal: RefusedRequest): void {
    const seen = this.repeats.get(keyOf(refusal));
    if (seen) {
      seen.count++;
      return;
    }
    const entry = this.entryFor(refusal);
    if (entry === refusal || !this.repeats.has(keyOf(entry))) this.begin(entry);
    else this.note(entry);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.flush();
  }

  private begin(refusal: RefusedRequest): void {
    if (this.repeats.size === 0) void this.clock.sleep(WINDOW_MS).then(() => this.flush());
    this.repeats.set(keyOf(refusal), { refusal, count: 0 });
    this.write(refusal, 1);
  }

  /** The refusal, or the shared entry if its caller or kind has used up its entries. */
  private entryFor(refusal: RefusedRequest): RefusedRequest {
    const { name, ip } = refusal.actor;
    const kind = name === ANONYMOUS ? 'without a token' : 'with a token';
    const caller = name === ANONYMOUS ? `ip ${ip ?? ''}` : `name ${name}`;
    const others = { method: '*', route: OTHERS, status: 0 };
    if (this.used(caller) >= MAX_ENTRIES_OF_ONE) return { actor: refusal.actor, ...others };
    if (this.used(kind) >= MAX_ENTRIES) return { actor: { name: ANONYMOUS, ip: null }, ...others };
    this.shares.set(kind, this.used(kind) + 1);
    this.shares.set(caller, this.used(caller) + 1);
    return refusal;
  }

  private used(share: string): number {
    return this.shares.get(share) ?? 0;
  }

  private async flush(): Promise<void> {
    for (const { refusal, count } of this.repeats.values()) {
      if (count > 0) this.write(refusal, count);
    }
    this.repeats.clear();
    this.shares.clear();
    await this.writing;
  }

  /** Sequentially, so that a flood uses at most one connection. */
  private write({ actor, ...details }: RefusedRequest, count: number): void {
    if (this.waiting >= MAX_WAITING)
      return this.losses.say(1, new Error(`${MAX_WAITING} entries are queued already`));
    this.waiting++;
    this.writing = this.writing
      .then(() =>
        this.audit.record({
          event: 'access.refused',
          outcome: 'refused',
          actor,
          details: { ...details, count },
        }),
      )
      .catch((error: unknown) => this.losses.say(1, error))
      .finally(() => {
        this.waiting--;
      });
  }
}

function keyOf({ actor, method, route, status }: RefusedRequest): string {
  return JSON.stringify([actor.ip, actor.name, actor.subject, method, route, status]);
}
