import { Injectable } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { Clock } from '@app/platform';

/** Of all callers, and of one of them; 4 kB each. */
const MAX_SEARCHES = 2_000;
const MAX_OF_CALLER = 200;
/** A call later than this is not credited to the search. */
const KEPT_MS = 30 * 60_000;
const ID_BYTES = 9;
/** Searches of one client session that a call may follow. */
const MAX_OF_SESSION = 5;

/** A search whose hits may be called. */
export interface RecentSearch {
  readonly caller: string;
  readonly viewId: string;
  readonly vector: Float32Array;
  /** Tools that it found and that were not called since. */
  readonly tools: Set<number>;
  readonly at: number;
}

/** What was searched lately, until a call follows: vectors, no text. Lost with the process, which costs a few uses. */
@Injectable()
export class RecentSearches {
  /** By caller, then by id, oldest first. */
  private readonly searches = new Map<string, Map<string, RecentSearch>>();
  private readonly ofSessions = new WeakMap<object, RecentSearch[]>();
  private count = 0;

  constructor(private readonly clock: Clock) {}

  get size(): number {
    return this.count;
  }

  /** Returns the id of the search. */
  add(search: Omit<RecentSearch, 'at'>, session: object | undefined): string {
    const id = randomBytes(ID_BYTES).toString('base64url');
    const kept = { ...search, at: this.clock.monotonic() };
    let own = this.searches.get(search.caller);
    if (!own) this.searches.set(search.caller, (own = new Map()));
    own.set(id, kept);
    this.count += 1;
    if (own.size > MAX_OF_CALLER) this.dropOldestOf(search.caller, own);
    if (this.count > MAX_SEARCHES) this.dropOldestOf(...this.callerWithMost());
    if (session) {
      const before = this.ofSessions.get(session) ?? [];
      this.ofSessions.set(session, [kept, ...before].slice(0, MAX_OF_SESSION));
    }
    return id;
  }

  /** Undefined for a search of another caller too. */
  byId(id: string, caller: string): RecentSearch | undefined {
    const search = this.searches.get(caller)?.get(id);
    return search && this.isRecent(search) ? search : undefined;
  }

  /** The newest search of the client session that found the tool. */
  inSession(session: object, toolId: number): RecentSearch | undefined {
    const all = this.ofSessions.get(session);
    return all?.find((search) => search.tools.has(toolId) && this.isRecent(search));
  }

  private isRecent({ at }: RecentSearch): boolean {
    return this.clock.monotonic() - at <= KEPT_MS;
  }

  private callerWithMost(): [string, Map<string, RecentSearch>] {
    let most: [string, Map<string, RecentSearch>] = ['', new Map()];
    for (const entry of this.searches) if (entry[1].size > most[1].size) most = entry;
    return most;
  }

  private dropOldestOf(caller: string, own: Map<string, RecentSearch>): void {
    for (const oldest of own.keys()) {
      own.delete(oldest);
      this.count -= 1;
      break;
    }
    if (own.size === 0) this.searches.delete(caller);
  }
}
