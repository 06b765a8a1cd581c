import { Injectable } from '@nestjs/common';
import { CoalescedRuns } from '@app/platform';
import { ClientGrantStore, type LiveGrant } from '../rows/client-grant.store.js';

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

  constructor(private readonly store: ClientGrantStore) {}

  find(id: string): LiveGrant | undefined {
    return this.grants.get(id);
  }

  reload(): Promise<void> {
    return this.reloads.run('grants', async () => {
      for (;;) {
        const { drops } = this;
        const rows = await this.store.alive();
        if (drops !== this.drops) continue;
        this.grants = new Map(rows.map((grant) => [grant.id, grant]));
        return;
      }
    });
  }

  /** A grant that this process has just deleted; it is refused also when the rows cannot be read. */
  drop(id: string): void {
    this.drops += 1;
    const left = new Map(this.grants);
    left.delete(id);
    this.grants = left;
  }
}
