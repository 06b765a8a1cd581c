import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Catalogue } from './catalogue.js';
import { digestsOf } from './catalogue-snapshot.js';
import { IndexToolsOnCatalogueChanges } from './index-tools.on-catalogue-changes.js';
import { ToolStore } from './tool.store.js';

const LOOK_AGAIN_MS = 30_000;

/**
 * Finds what a lost event, another replica or a crash left different between rows, catalogue and vectors. Tools are
 * compared only when some were written, and read only where they differ: there may be 100,000 of them.
 */
@Injectable()
export class ReconcileCatalogueJob {
  private writesSeen: string | undefined;
  private serversSeen: string | undefined;

  constructor(
    private readonly store: ToolStore,
    private readonly catalogue: Catalogue,
    private readonly indexing: IndexToolsOnCatalogueChanges,
  ) {}

  @Interval(LOOK_AGAIN_MS)
  async reconcile(): Promise<void> {
    const servers = await this.store.serversDigest();
    if (servers !== this.serversSeen) await this.catalogue.reloadServers();
    this.serversSeen = servers;
    const writes = await this.store.writes();
    if (writes !== this.writesSeen) await this.reconcileTools();
    this.writesSeen = writes;
    await this.indexing.verify();
  }

  private async reconcileTools(): Promise<void> {
    const stored = await this.store.digests();
    const held = digestsOf(this.catalogue.current.tools);
    const different = [...new Set([...stored.keys(), ...held.keys()])].filter(
      (serverId) => stored.get(serverId) !== held.get(serverId),
    );
    if (different.length === 0) return;
    // The aggregator's own tools are read with all others.
    await this.catalogue.reload(different.includes('') ? undefined : different);
  }
}
