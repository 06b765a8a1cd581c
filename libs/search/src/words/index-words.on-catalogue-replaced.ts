import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { CatalogueReplaced } from '@app/events';
import { Signals } from '@app/platform';
import { LexicalTools } from './lexical-tools.js';

/** Awaited, so that a search after a write finds what was written (contract R39). */
@Injectable()
export class IndexWordsOnCatalogueReplaced implements OnModuleInit, OnModuleDestroy {
  private stopHearing: (() => void) | undefined;

  constructor(
    private readonly signals: Signals,
    private readonly words: LexicalTools,
  ) {}

  onModuleInit(): void {
    this.stopHearing = this.signals.hear(CatalogueReplaced, (change) => this.words.follow(change));
  }

  onModuleDestroy(): void {
    this.stopHearing?.();
  }
}
