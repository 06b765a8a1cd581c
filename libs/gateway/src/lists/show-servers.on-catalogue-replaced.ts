import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { CatalogueReplaced } from '@app/events';
import { Signals } from '@app/platform';
import { AggregateSurface } from '../endpoints/aggregate.surface.js';
import { Offerings } from './offerings.js';
import { SearchSurface } from '../endpoints/search.surface.js';

/** Updates the prompts and resources of changed servers, and notifies clients of changed lists. */
@Injectable()
export class ShowServersOnCatalogueReplaced implements OnModuleInit, OnModuleDestroy {
  private stopHearing: (() => void) | undefined;

  constructor(
    private readonly signals: Signals,
    private readonly offerings: Offerings,
    private readonly aggregate: AggregateSurface,
    private readonly search: SearchSurface,
  ) {}

  onModuleInit(): void {
    this.stopHearing = this.signals.hear(CatalogueReplaced, ({ serverIds }) => {
      if (serverIds.length > 0) this.offerings.followServers(serverIds);
      this.aggregate.followCatalogue();
      this.search.followCatalogue();
    });
  }

  onModuleDestroy(): void {
    this.stopHearing?.();
  }
}
