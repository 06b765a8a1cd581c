import { Injectable, Logger } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { Interval } from '@nestjs/schedule';
import { inSlices, Upkeep } from '@app/platform';
import { ServersDigest } from '@app/registry';
import { Catalogue } from '../catalogue.js';
import { digestOfServers } from '../catalogue-snapshot.js';
import { digestsOf } from '../snapshot/tool-digests.js';
import { IndexToolsOnCatalogueReplaced } from './index-tools.on-catalogue-replaced.js';
import { ToolStore } from '../tool.store.js';

const LOOK_AGAIN_MS = 30_000;

/**
 * Repairs differences between rows, catalogue and vectors after a lost event or a crash, or when another replica
 * wrote. Tools are compared only after a write to their table, and loaded only for servers that differ: there may
 * be 100,000 of them.
 */
@Injectable()
export class ReconcileCatalogueJob {
  private readonly logger = new Logger(ReconcileCatalogueJob.name);
  private writesSeen: string | undefined;

  constructor(
    private readonly queries: QueryBus,
    private readonly store: ToolStore,
    private readonly catalogue: Catalogue,
    private readonly indexing: IndexToolsOnCatalogueReplaced,
    private readonly upkeep: Upkeep,
  ) {}

  @Interval(LOOK_AGAIN_MS)
  async run(): Promise<void> {
    try {
      await this.reconcile();
    } catch (error) {
      this.logger.error({ err: error }, 'catalogue.not_reconciled');
    }
  }

  async reconcile(): Promise<void> {
    await this.upkeep.run(() => this.compare());
    // May compute vectors for minutes, for which other comparisons do not wait.
    await this.indexing.verify();
  }

  private async compare(): Promise<void> {
    const servers = await this.queries.execute(new ServersDigest());
    const shown = digestOfServers(this.catalogue.current.servers);
    if (servers !== shown) await this.catalogue.reloadServers();
    const writes = await this.store.writes();
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
