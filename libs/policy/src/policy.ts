import { Injectable } from '@nestjs/common';
import { PolicyChanged } from '@app/events';
import { CoalescedRuns, Database, FailPoints, Replicas, Signals, type Tx } from '@app/platform';
import { type PolicyChangeEntry, PolicyStore } from './rows/policy.store.js';
import { NOTHING as NOTHING_OFFERED, type Offer } from './views/offer.js';
import { PolicySnapshot } from './rows/policy-snapshot.js';

/** Topic of messages between replicas. */
export const POLICY_CHANGED = 'policy';

const NOTHING = new PolicySnapshot({ version: -1n, views: [], grants: [], overrides: [] });

/**
 * Views, grants and overrides in memory, so that no request reads the database. Until the rows are read nothing is
 * offered to anyone.
 */
@Injectable()
export class Policy {
  private readonly reads = new CoalescedRuns();
  private snapshot = NOTHING;

  constructor(
    private readonly database: Database,
    readonly rows: PolicyStore,
    private readonly signals: Signals,
    private readonly replicas: Replicas,
    private readonly failPoints: FailPoints,
  ) {}

  /** What a view offers now. */
  offerOf(viewId: string, isReadOnly: boolean): Offer {
    return this.snapshot.offerOf(viewId, isReadOnly) ?? NOTHING_OFFERED;
  }

  get current(): PolicySnapshot {
    return this.snapshot;
  }

  /** Makes memory equal to the rows, whichever process wrote them. */
  reload(): Promise<void> {
    return this.reads.run('rows', async () =>
      this.replace(new PolicySnapshot(await this.rows.readUndisturbed(), this.snapshot)),
    );
  }

  /**
   * Changes rows in one transaction, with its entry in the history. `work` gets the policy as the rows have it, since
   * no other change can come between. Resolves when every request of this process follows the change. Without an entry
   * nothing has changed, and no one is told.
   */
  async change<T>(
    work: (
      tx: Tx,
      now: PolicySnapshot,
    ) => Promise<{ readonly done: T; readonly entry: PolicyChangeEntry | undefined }>,
  ): Promise<T> {
    const { done, after } = await this.database.transaction(async (tx) => {
      await this.rows.lock(tx);
      const rows = await this.rows.read(tx);
      const { done: result, entry } = await work(tx, new PolicySnapshot(rows, this.snapshot));
      if (!entry) return { done: result, after: rows };
      await this.rows.advance(tx);
      await this.rows.note(entry, tx);
      await this.replicas.tellIn(tx, POLICY_CHANGED);
      this.failPoints.pass('policy.written');
      return { done: result, after: await this.rows.read(tx) };
    });
    this.failPoints.pass('policy.committed');
    await this.replace(new PolicySnapshot(after, this.snapshot));
    return done;
  }

  private async replace(next: PolicySnapshot): Promise<void> {
    // Two changes may commit in one order and arrive here in the other.
    if (next.version < this.snapshot.version) return;
    const isChanged = next.version > this.snapshot.version;
    this.snapshot = next;
    if (isChanged) await this.signals.tell(new PolicyChanged());
  }
}
