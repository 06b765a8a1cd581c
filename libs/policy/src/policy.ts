import { Injectable } from '@nestjs/common';
import { PolicyChanged } from '@app/events';
import { AuditStore } from '@app/access';
import {
  CoalescedRuns,
  Database,
  FailPoints,
  isForeignKeyViolation,
  Replicas,
  Signals,
} from '@app/platform';
import { ServerRemovedMeanwhile } from './policy.errors.js';
import { PolicyDraft } from './rows/policy-draft.js';
import { PolicyStore } from './rows/policy.store.js';
import { NOTHING as NOTHING_OFFERED, type Offer } from './views/offer.js';
import { type PolicyRows, PolicySnapshot } from './rows/policy-snapshot.js';

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
    private readonly rows: PolicyStore,
    private readonly audit: AuditStore,
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
    return this.reads.run('rows', async () => {
      if (await this.rows.isAsRead(this.snapshot)) return;
      await this.replace(new PolicySnapshot(await this.rows.readUndisturbed(), this.snapshot));
    });
  }

  /**
   * Changes rows in one transaction, each change with its entries in the history and the audit log. No other change can
   * come between. Resolves when every request of this process follows the changes. Without a change no one is told.
   */
  async change<T>(work: (draft: PolicyDraft) => Promise<T>): Promise<T> {
    const { done, rows, isChanged } = await this.transaction(work);
    if (isChanged) this.failPoints.pass('policy.committed');
    // Also if this process has just found out what another one changed.
    if (rows.version > this.snapshot.version) {
      await this.replace(new PolicySnapshot(rows, this.snapshot));
    }
    return done;
  }

  private async transaction<T>(
    work: (draft: PolicyDraft) => Promise<T>,
  ): Promise<{ readonly done: T; readonly rows: PolicyRows; readonly isChanged: boolean }> {
    try {
      return await this.database.transaction(async (tx) => {
        await this.rows.lock(tx);
        const rows = await this.rows.read(tx);
        const draft = new PolicyDraft(rows, this.rows, this.audit, tx);
        const done = await work(draft);
        if (draft.changes === 0) return { done, rows, isChanged: false };
        await this.rows.advance(tx);
        await this.replicas.tellIn(tx, POLICY_CHANGED);
        this.failPoints.pass('policy.written');
        return { done, rows: await this.rows.read(tx), isChanged: true };
      });
    } catch (error) {
      // Views and overrides are of servers, which are removed without the lock.
      throw isForeignKeyViolation(error) ? new ServerRemovedMeanwhile() : error;
    }
  }

  private async replace(next: PolicySnapshot): Promise<void> {
    // Two changes may commit in one order and arrive here in the other.
    if (next.version < this.snapshot.version) return;
    const isChanged = next.version > this.snapshot.version;
    this.snapshot = next;
    if (isChanged) await this.signals.tell(new PolicyChanged());
  }
}
