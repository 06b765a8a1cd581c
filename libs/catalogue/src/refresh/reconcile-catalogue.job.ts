import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { inSlices, RowWatches } from '@app/platform';
import { SERVERS_MARK } from '@app/registry';
import { Catalogue } from '../catalogue.js';
import { digestOfServers } from '../catalogue-snapshot.js';
import { digestsOf } from '../snapshot/tool-digests.js';
import { IndexToolsOnCatalogueReplaced } from './index-tools.on-catalogue-replaced.js';
import { TOOLS_MARK, ToolStore } from '../tool.store.js';

const VERIFY_EVERY_MS = 30_000;
/** Not in a digest. */
const BETWEEN = '/';

/**
 * Repairs differences between rows, catalogue and vectors after a lost event or a crash, or when another replica
 * wrote. Tools are compared only after a write to their table, and loaded only for servers that differ: there may
 * be 100,000 of them.
 */
@Injectable()
export class ReconcileCatalogueJob implements OnModuleInit {
  private readonly logger = new Logger(ReconcileCatalogueJob.name);
  private writesSeen: string | undefined;

  constructor(
    private readonly store: ToolStore,
    private readonly catalogue: Catalogue,
    private readonly indexing: IndexToolsOnCatalogueReplaced,
    private readonly rows: RowWatches,
  ) {}

  onModuleInit(): void {
    this.rows.add({
      mark: `SELECT concat((${SERVERS_MARK}), '${BETWEEN}', (${TOOLS_MARK}))`,
      look: (mark) => this.compare(mark),
      failed: (error) => this.failed(error),
    });
  }

  /** May compute vectors for minutes, for which other comparisons do not wait. */
  @Interval(VERIFY_EVERY_MS)
  async verify(): Promise<void> {
    try {
      await this.indexing.verify();
    } catch (error) {
      this.failed(error);
    }
  }

  private failed(error: unknown): void {
    this.logger.error({ err: error }, 'catalogue.not_reconciled');
  }

  private async compare(mark: string): Promise<void> {
    const [servers, writes] = mark.split(BETWEEN);
    const shown = digestOfServers(this.catalogue.current.servers);
    if (servers !== shown) await this.catalogue.reloadServers();
    if (writes !== this.writesSeen) await this.reconcileTools();
    this.writesSeen = writes;
  }

  private async reconcileTools(): Promise<void> {
    const stored = await this.store.digests();
    const held = await inSlices(digestsOf(this.catalogue.current));
    const different = [...new Set([...stored.keys(), ...held.keys()])].filter(
      (serverId) => stored.get(serverId) !== held.get(serverId),
    );
    if (different.length === 0) return;
    // Own tools can only be reloaded together with all others.
    await this.catalogue.reload(different.includes('') ? undefined : different);
  }
}
