import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Catalogue } from './catalogue.js';

/** Before the first request is answered, the picture is there. */
@Injectable()
export class LoadCatalogueOnStart implements OnApplicationBootstrap {
  constructor(private readonly catalogue: Catalogue) {}

  onApplicationBootstrap(): Promise<void> {
    return this.catalogue.reload();
  }
}
