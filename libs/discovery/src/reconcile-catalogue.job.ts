import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Catalogue } from './catalogue.js';
import { IndexToolsOnCatalogueChanges } from './index-tools.on-catalogue-changes.js';
import { ToolStore } from './tool.store.js';

const LOOK_AGAIN_MS = 30_000;

/** Finds what a lost event, another replica or a crash left different between rows, catalogue and vectors. */
@Injectable()
export class ReconcileCatalogueJob {
  private seen: string | undefined;

  constructor(
    private readonly store: ToolStore,
    private readonly catalogue: Catalogue,
    private readonly indexing: IndexToolsOnCatalogueChanges,
  ) {}

  @Interval(LOOK_AGAIN_MS)
  async reconcile(): Promise<void> {
    const digest = await this.store.digest();
    if (digest !== this.seen) await this.catalogue.reload();
    this.seen = digest;
    await this.indexing.verify();
  }
}
