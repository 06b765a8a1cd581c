import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Clock, RowWatches, Upkeep, whenChanged } from '@app/platform';
import { Tokens } from '../authenticate/tokens.js';
import { PersonStore } from '../people/person.store.js';
import { IssuedTokenStore, TOKENS_MARK } from './issued-token.store.js';

const NOTE_EVERY_MS = 30_000;

/** Writes when tokens were used, and reads them again when one has expired or a notification was lost. */
@Injectable()
export class SyncTokensJob implements OnModuleInit {
  private readonly logger = new Logger('access');

  constructor(
    private readonly tokens: Tokens,
    private readonly store: IssuedTokenStore,
    private readonly clock: Clock,
    private readonly upkeep: Upkeep,
    private readonly people: PersonStore,
    private readonly rows: RowWatches,
  ) {}

  onModuleInit(): void {
    this.rows.add({
      mark: `SELECT concat_ws(' ', (${TOKENS_MARK}), (${this.people.mark}))`,
      look: whenChanged(() => this.tokens.reload()),
      failed: (error) => this.failed(error),
    });
  }

  @Interval(NOTE_EVERY_MS)
  async noteUse(): Promise<void> {
    const used = this.tokens.takeUsed();
    if (used.length === 0) return;
    try {
      await this.upkeep.run(() => this.store.noteUse(used, this.clock.now()));
    } catch (error) {
      this.failed(error);
    }
  }

  private failed(error: unknown): void {
    this.logger.warn({ err: error }, 'access.tokens_not_reloaded');
  }
}
