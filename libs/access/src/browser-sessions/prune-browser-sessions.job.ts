import { Injectable, Logger } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Upkeep } from '@app/platform';
import { BrowserSessionStore } from './browser-session.store.js';

const HOUR_MS = 3_600_000;

/** Deletes the rows of sessions that have expired. */
@Injectable()
export class PruneBrowserSessionsJob {
  private readonly logger = new Logger('access');

  constructor(
    private readonly store: BrowserSessionStore,
    private readonly upkeep: Upkeep,
  ) {}

  @Interval(HOUR_MS)
  async run(): Promise<void> {
    try {
      await this.upkeep.run(() => this.store.deleteExpired());
    } catch (error) {
      this.logger.warn({ err: error }, 'access.expired_sessions_kept');
    }
  }
}
