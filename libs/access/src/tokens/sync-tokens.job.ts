import { Injectable, Logger } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Clock, Upkeep } from '@app/platform';
import { Tokens } from '../authenticate/tokens.js';
import { IssuedTokenStore } from './issued-token.store.js';

const EVERY_MS = 30_000;

/** Writes when tokens were used, and reads them again: one may have expired, or a notification may be lost. */
@Injectable()
export class SyncTokensJob {
  private readonly logger = new Logger('access');

  constructor(
    private readonly tokens: Tokens,
    private readonly store: IssuedTokenStore,
    private readonly clock: Clock,
    private readonly upkeep: Upkeep,
  ) {}

  @Interval(EVERY_MS)
  async run(): Promise<void> {
    try {
      await this.upkeep.run(() => this.sync());
    } catch (error) {
      this.logger.warn({ err: error }, 'access.tokens_not_reloaded');
    }
  }

  private async sync(): Promise<void> {
    const used = this.tokens.takeUsed();
    if (used.length > 0) await this.store.noteUse(used, this.clock.now());
    await this.tokens.reload();
  }
}
