import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { TokensWithdrawn } from '@app/events';
import { Signals } from '@app/platform';
import { KeptResultStore } from './kept-result.store.js';

/** No token reads them any more, and they take room. */
@Injectable()
export class ForgetResultsOnTokensWithdrawn implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger('results');
  private stopHearing: (() => void) | undefined;

  constructor(
    private readonly signals: Signals,
    private readonly store: KeptResultStore,
  ) {}

  onModuleInit(): void {
    this.stopHearing = this.signals.hear(TokensWithdrawn, ({ subjects }) => this.forget(subjects));
  }

  onModuleDestroy(): void {
    this.stopHearing?.();
  }

  /** They expire in any case. */
  private async forget(subjects: readonly string[]): Promise<void> {
    try {
      await this.store.forgetOf(subjects);
    } catch (error) {
      this.logger.warn({ err: error }, 'result.not_forgotten');
    }
  }
}
