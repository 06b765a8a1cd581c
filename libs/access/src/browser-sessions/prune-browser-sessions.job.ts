import { Injectable, Logger } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Upkeep } from '@app/platform';
import { BrowserSessionStore } from './browser-session.store.js';
import { PersonStore } from '../people/person.store.js';
import { LoginCodeStore } from './login-code.store.js';

const HOUR_MS = 3_600_000;

/** Deletes the rows of sessions, login links and accounts that have expired. */
@Injectable()
export class PruneBrowserSessionsJob {
  private readonly logger = new Logger('access');

  constructor(
    private readonly sessions: BrowserSessionStore,
    private readonly codes: LoginCodeStore,
    private readonly people: PersonStore,
    private readonly upkeep: Upkeep,
  ) {}

  @Interval(HOUR_MS)
  async run(): Promise<void> {
    try {
      await this.upkeep.run(async () => {
        await this.sessions.deleteExpired();
        await this.codes.deleteExpired();
        await this.people.deleteExpired();
      });
    } catch (error) {
      this.logger.warn({ err: error }, 'access.expired_sessions_kept');
    }
  }
}
