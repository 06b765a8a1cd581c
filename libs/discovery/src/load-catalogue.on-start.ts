import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { ToolVectors } from '@app/vectors';
import { Catalogue } from './catalogue.js';
import { IndexToolsOnCatalogueChanges } from './index-tools.on-catalogue-changes.js';

/** Before the first request is answered, the picture is there, and its vectors if none of it is remote. */
@Injectable()
export class LoadCatalogueOnStart implements OnApplicationBootstrap {
  constructor(
    private readonly catalogue: Catalogue,
    private readonly vectors: ToolVectors,
    private readonly indexing: IndexToolsOnCatalogueChanges,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.catalogue.reload();
    const indexed = this.indexing.request();
    if (this.vectors.isLocal) await indexed;
  }
}
