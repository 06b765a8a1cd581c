import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Catalogue } from '@app/catalogue';
import { CatalogueReplaced } from '@app/events';
import { Signals } from '@app/platform';
import { ClassificationWorker } from './classification-worker.js';

/** Enqueues new and changed tools. */
@Injectable()
export class ClassifyToolsOnCatalogueReplaced implements OnModuleInit, OnModuleDestroy {
  private stopHearing: (() => void) | undefined;

  constructor(
    private readonly signals: Signals,
    private readonly catalogue: Catalogue,
    private readonly worker: ClassificationWorker,
  ) {}

  onModuleInit(): void {
    this.stopHearing = this.signals.hear(CatalogueReplaced, ({ written }) => {
      const { toolsById, toolsByServer } = this.catalogue.current;
      const external = written.filter((id) => toolsById.get(id)?.isExternal);
      if (external.length === 0) return;
      // Own tools are classified together with others: a separate request to a model is not worth its cost.
      const own = (toolsByServer.get('') ?? []).map(({ id }) => id);
      // In the background, because a model may take minutes.
      void this.worker.request([...own, ...external]);
    });
  }

  onModuleDestroy(): void {
    this.stopHearing?.();
  }
}
