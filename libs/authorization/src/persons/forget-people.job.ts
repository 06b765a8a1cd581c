import { Injectable, Logger } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Tokens } from '@app/access';
import { Upkeep } from '@app/platform';
import { PersonCredentialStore } from './person-credential.store.js';

const EVERY_MS = 300_000;

/** Deletes credentials of tokens that were revoked or have expired, and rows of people who never connected. */
@Injectable()
export class ForgetPeopleJob {
  private readonly logger = new Logger('authorization');

  constructor(
    private readonly store: PersonCredentialStore,
    private readonly tokens: Tokens,
    private readonly upkeep: Upkeep,
  ) {}

  @Interval(EVERY_MS)
  async run(): Promise<void> {
    try {
      await this.upkeep.run(() => this.forget());
    } catch (error) {
      this.logger.warn({ err: error }, 'connection.not_forgotten');
    }
  }

  async forget(): Promise<void> {
    const subjects = await this.store.issuedSubjects();
    // Read after the rows: a token that was issued in between must be known.
    if (subjects.length > 0) await this.tokens.reload();
    const gone = subjects.filter((subject) => !this.tokens.hasSubject(subject));
    if (gone.length > 0) await this.store.deleteSubjects(gone);
    await this.store.deleteUnused();
  }
}
