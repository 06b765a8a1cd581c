import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { ToolVectors } from '@app/vectors';
import { Catalogue } from '../catalogue.js';
import { IndexToolsOnCatalogueReplaced } from './index-tools.on-catalogue-replaced.js';

/** Loads the catalogue before the first request, and indexes its vectors if index and model are in this process. */
@Injectable()
export class LoadCatalogueOnStart implements OnApplicationBootstrap {
  constructor(
    private readonly catalogue: Catalogue,
    private readonly vectors: ToolVectors,
    private readonly indexing: IndexToolsOnCatalogueReplaced,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.catalogue.reload();
    const indexed = this.indexing.request();
    if (this.vectors.isLocal) await indexed;
  }
}
