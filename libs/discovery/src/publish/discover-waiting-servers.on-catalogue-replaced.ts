import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { CatalogueReplaced } from '@app/events';
import { Clock, Coalescer, Signals } from '@app/platform';
import { DiscoverWaitingServersJob } from './discover-waiting-servers.job.js';

const REMOVALS = { firstMs: 200, maxMs: 5_000, maxKeys: 1 };

/** Removed tools leave room for those of other servers, whichever replica removed them. */
@Injectable()
export class DiscoverWaitingServersOnCatalogueReplaced implements OnModuleInit, OnModuleDestroy {
  private readonly removals: Coalescer;
  private stopHearing: (() => void) | undefined;

  constructor(
    private readonly signals: Signals,
    private readonly job: DiscoverWaitingServersJob,
    clock: Clock,
  ) {
    this.removals = new Coalescer(clock, REMOVALS);
  }

  onModuleInit(): void {
    this.stopHearing = this.signals.hear(CatalogueReplaced, ({ removed }) => {
      if (removed.length > 0) this.removals.run('all', () => this.job.run());
    });
  }

  onModuleDestroy(): void {
    this.stopHearing?.();
  }
}
