import { Injectable } from '@nestjs/common';
import { LruMap } from '@app/access';
import { ClientGrantsEnded } from '@app/events';
import { Clock, CoalescedRuns, Signals } from '@app/platform';
import { ClientGrantStore, type LiveGrant } from '../rows/client-grant.store.js';

const MISS_REMEMBERED_MS = 1_000;
const MAX_MISSES = 1_000;

/**
 * The grants that are in force, in memory for requests: the rows are the truth, and are read after each change, after
 * news of another replica and every 30 s. While the database is gone, grants stay as they were.
 */
@Injectable()
export class LiveGrants {
  private grants: ReadonlyMap<string, LiveGrant> = new Map();
  private readonly reloads = new CoalescedRuns();
  /** Counts what was dropped here, to notice rows that were read before. */
  private drops = 0;

  /** Ids without a grant, until when (monotonic): each request with a refused token would read again. */
  private readonly misses = new LruMap<number>(MAX_MISSES);

  constructor(
    private readonly store: ClientGrantStore,
    private readonly signals: Signals,
    private readonly clock: Clock,
  ) {}

  find(id: string): LiveGrant | undefined {
    return this.grants.get(id);
  }

  /** Also one that another replica gave a moment ago. */
  async lookUp(id: string): Promise<LiveGrant | undefined> {
    const known = this.find(id);
    if (known || (this.misses.get(id) ?? 0) > this.clock.monotonic()) return known;
    const { drops } = this;
    const found = await this.store.aliveWith(id);
    if (drops !== this.drops) return this.find(id);
    if (found) this.grants = new Map([...this.grants, [id, found]]);
    else this.misses.set(id, this.clock.monotonic() + MISS_REMEMBERED_MS);
    return found;
  }

  reload(): Promise<void> {
    return this.reloads.run('grants', async () => {
      for (;;) {
        const { drops } = this;
        const rows = await this.store.alive();
        if (drops !== this.drops) continue;
        const before = this.grants;
        this.grants = new Map(rows.map((grant) => [grant.id, grant]));
        const hasEnded = [...before.keys()].some((id) => !this.grants.has(id));
        if (hasEnded) await this.signals.tell(new ClientGrantsEnded());
        return;
      }
    });
  }

  /** Grants that this process has just deleted; they are refused also when the rows cannot be read. */
  async drop(ids: readonly string[]): Promise<void> {
    this.drops += 1;
    const left = new Map(this.grants);
    for (const id of ids) left.delete(id);
    this.grants = left;
    await this.signals.tell(new ClientGrantsEnded());
  }
}
