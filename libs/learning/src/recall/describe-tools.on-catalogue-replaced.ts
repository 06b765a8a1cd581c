import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { CatalogueReplaced } from '@app/events';
import { Signals } from '@app/platform';
import { LearntTools } from './learnt-tools.js';

/** What a tool was used for is compared with what its text says now. */
@Injectable()
export class DescribeToolsOnCatalogueReplaced implements OnModuleInit, OnModuleDestroy {
  private stopHearing: (() => void) | undefined;

  constructor(
    private readonly signals: Signals,
    private readonly learnt: LearntTools,
  ) {}

  onModuleInit(): void {
    this.stopHearing = this.signals.hear(CatalogueReplaced, (change) => this.learnt.follow(change));
  }

  onModuleDestroy(): void {
    this.stopHearing?.();
  }
}
