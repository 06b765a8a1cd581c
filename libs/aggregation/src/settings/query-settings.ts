import { Injectable, Logger } from '@nestjs/common';
import { CoalescedRuns, Replicas } from '@app/platform';
import { type QuerySettingsSnapshot, QuerySettingsStore } from './query-settings.store.js';

/** Topic under which replicas notify each other of a change. */
export const QUERY_SETTINGS_CHANGED = 'query-settings';

/** The rules and settings of aggregated queries in memory, so that a query needs no database. */
@Injectable()
export class QuerySettings {
  private readonly logger = new Logger(QuerySettings.name);
  private readonly reads = new CoalescedRuns();
  private snapshot: QuerySettingsSnapshot | undefined;

  constructor(
    private readonly store: QuerySettingsStore,
    private readonly replicas: Replicas,
  ) {}

  /** From memory, unless the read after the last change failed. */
  async current(): Promise<QuerySettingsSnapshot> {
    if (!this.snapshot) await this.reload();
    return this.snapshot ?? this.store.read();
  }

  /** Reads the rows again; queries use the old snapshot until the new one is complete. */
  reload(): Promise<void> {
    return this.reads.run('rows', async () => {
      this.snapshot = await this.store.read();
    });
  }

  /** To be called after a change is committed: from then on queries of this process follow it. */
  async changed(): Promise<void> {
    const told = this.replicas.tell(QUERY_SETTINGS_CHANGED);
    try {
      await this.reload();
    } catch (error) {
      this.snapshot = undefined;
      this.logger.warn({ err: error }, 'query.settings_not_read');
    }
    await told;
  }
}
