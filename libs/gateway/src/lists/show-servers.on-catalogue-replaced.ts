import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { CatalogueReplaced } from '@app/events';
import { Signals } from '@app/platform';
import { McpSurfaces } from '../endpoints/mcp-surfaces.js';
import { Offerings } from './offerings.js';

/** Updates the prompts and resources of changed servers, and notifies clients of changed lists. */
@Injectable()
export class ShowServersOnCatalogueReplaced implements OnModuleInit, OnModuleDestroy {
  private stopHearing: (() => void) | undefined;

  constructor(
    private readonly signals: Signals,
    private readonly offerings: Offerings,
    private readonly surfaces: McpSurfaces,
  ) {}

  onModuleInit(): void {
    this.stopHearing = this.signals.hear(CatalogueReplaced, ({ serverIds }) => {
      if (serverIds.length > 0) this.offerings.followServers(serverIds);
      this.surfaces.followCatalogue();
    });
  }

  onModuleDestroy(): void {
    this.stopHearing?.();
  }
}
