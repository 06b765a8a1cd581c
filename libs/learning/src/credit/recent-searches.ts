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
  /** Tools that it found. */
  readonly tools: ReadonlySet<number>;
  /** Tools that it was credited for. */
  readonly used: Set<number>;
  readonly at: number;
}

type SearchKey = readonly [id: string, caller: string];

/** What was searched lately, until a call follows: vectors, no text. Lost with the process, which costs a few uses. */
@Injectable()
export class RecentSearches {
  /** By caller, then by id, oldest first. */
  private readonly searches = new Map<string, Map<string, RecentSearch>>();
  /** Ids and callers, newest first: the searches themselves are bounded above. */
  private readonly ofSessions = new WeakMap<object, readonly SearchKey[]>();
  private count = 0;

  constructor(private readonly clock: Clock) {}

  get size(): number {
    return this.count;
  }

  /** Returns the id of the search. */
  add(search: Omit<RecentSearch, 'at' | 'used'>, session: object | undefined): string {
    const id = randomBytes(ID_BYTES).toString('base64url');
    let own = this.searches.get(search.caller);
    if (!own) this.searches.set(search.caller, (own = new Map()));
    own.set(id, { ...search, used: new Set(), at: this.clock.monotonic() });
    this.count += 1;
    if (own.size > MAX_OF_CALLER) this.dropOldestOf(search.caller, own);
    if (this.count > MAX_SEARCHES) this.dropOldestOf(...this.callerWithMost());
    if (session) {
      const before = this.ofSessions.get(session) ?? [];
      const key: SearchKey = [id, search.caller];
      this.ofSessions.set(session, [key, ...before].slice(0, MAX_OF_SESSION));
    }
    return id;
  }

  /** Undefined for a search of another caller too. */
  byId(id: string, caller: string): RecentSearch | undefined {
    const search = this.searches.get(caller)?.get(id);
    return search && this.isRecent(search) ? search : undefined;
  }

  /** The newest search of the client session that found the tool: whether it was used or not, none before is meant. */
  inSession(session: object, toolId: number): RecentSearch | undefined {
    for (const key of this.ofSessions.get(session) ?? []) {
      const search = this.byId(...key);
      if (search?.tools.has(toolId)) return search;
    }
    return undefined;
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
