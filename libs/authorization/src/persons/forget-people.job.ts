import { Injectable, Logger } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { Interval } from '@nestjs/schedule';
import { AuditStore, PersonStore, SYSTEM, Tokens } from '@app/access';
import { PersonConnectionChanged } from '@app/events';
import { Signals, Upkeep } from '@app/platform';
import { GetServer } from '@app/registry';
import { type Forgotten, PersonCredentialStore } from './person-credential.store.js';

const EVERY_MS = 300_000;
/** Removed meanwhile. */
const UNNAMED = { name: 'unknown' };

/**
 * Deletes credentials of tokens that were revoked, have expired or are no longer configured, of people whose account
 * ended, and rows of people who never connected.
 */
@Injectable()
export class ForgetPeopleJob {
  private readonly logger = new Logger('authorization');

  constructor(
    private readonly store: PersonCredentialStore,
    private readonly tokens: Tokens,
    private readonly people: PersonStore,
    private readonly upkeep: Upkeep,
    private readonly queries: QueryBus,
    private readonly audit: AuditStore,
    private readonly signals: Signals,
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
    const subjects = await this.store.subjectsFrom('issued:');
    // Read after the rows: a token that was issued in between must be known.
    if (subjects.length > 0) await this.tokens.reload();
    const gone = subjects.filter((subject) => !this.tokens.hasSubject(subject));
    gone.push(...(await this.notConfigured()), ...(await this.withoutAccount()));
    const forgotten = gone.length > 0 ? await this.store.deleteSubjects(gone) : [];
    for (const one of forgotten) await this.tell(one);
    await this.store.deleteUnused();
  }

  /** Of names that no token has had for a day: while replicas are updated, some have other settings. */
  private async notConfigured(): Promise<readonly string[]> {
    const subjects = await this.store.subjectsFrom('token:');
    if (subjects.length === 0) return [];
    const isKnown = (subject: string): boolean => this.tokens.hasSubject(subject);
    const others = subjects.filter((subject) => !isKnown(subject));
    return this.store.seen(subjects.filter(isKnown), others);
  }

  /** Of people of the identity provider: an account that begins later has the same subject. */
  private async withoutAccount(): Promise<readonly string[]> {
    const start = this.people.accountPrefix;
    if (start === undefined) return [];
    const subjects = await this.store.subjectsFrom(start);
    return subjects.length === 0 ? [] : this.people.withoutAccount(subjects);
  }

  private async tell({ serverId, subject, person }: Forgotten): Promise<void> {
    const { name } = await this.queries.execute(new GetServer(serverId)).catch(() => UNNAMED);
    const server = { id: serverId, name };
    const details = { person, subject };
    await this.audit.record({ event: 'connection.ended', actor: SYSTEM, server, details });
    await this.signals.tell(new PersonConnectionChanged(serverId, subject));
  }
}
