import { Injectable } from '@nestjs/common';
import { Database, Replicas } from '@app/platform';
import { randomBytes, randomUUID } from 'node:crypto';
import { type LoginRefusal, PersonNotAllowed } from '../access.errors.js';
import { AuditStore } from '../audit/audit.store.js';
import { principalName, subjectIn } from '../authenticate/principal.js';
import { type Holder, Tokens } from '../authenticate/tokens.js';
import { TOKENS_CHANGED } from '../tokens/issued-token.js';
import type { ProvedPerson } from './person.js';
import { PersonStore } from './person.store.js';

/** Keeps the account of someone whom the identity provider vouches for equal to what it says. */
@Injectable()
export class ProviderLogins {
  constructor(
    private readonly database: Database,
    private readonly store: PersonStore,
    private readonly audit: AuditStore,
    private readonly tokens: Tokens,
    private readonly replicas: Replicas,
  ) {}

  /**
   * The hash that sessions of the account have. Without a scope the account ends, with its sessions and clients, and this
   * rejects with PersonNotAllowed, which says why.
   */
  async accept(person: ProvedPerson, ip: string | null): Promise<[hash: string, Holder]> {
    if (person.scopes.length === 0) {
      const { refusal = 'role' } = person;
      await this.refuse(person, refusal, ip);
      throw new PersonNotAllowed(refusal);
    }
    const fresh = { id: randomUUID(), sessionHash: randomBytes(32).toString('hex') };
    const { sessionHash } = await this.database.transaction(async (tx) => {
      const noted = await this.store.noteLogin(person, fresh, tx);
      await this.replicas.tellIn(tx, TOKENS_CHANGED);
      return noted;
    });
    await this.tokens.reload();
    const holder = this.tokens.holderOf(sessionHash);
    if (!holder) throw new PersonNotAllowed('account-ended');
    return [sessionHash, holder];
  }

  private async refuse(
    { issuer, subject, label }: ProvedPerson,
    reason: LoginRefusal,
    ip: string | null,
  ): Promise<void> {
    const name = principalName('jwt', subject);
    if (name === undefined) return;
    const actor = { name, subject: subjectIn('jwt', subject, issuer), ip };
    const ended = await this.database.transaction(async (tx) => {
      const details = { by: 'provider', person: label, reason };
      const refused = {
        event: 'console.login_refused',
        outcome: 'refused',
        actor,
        details,
      } as const;
      await this.audit.record(refused, tx);
      const id = await this.store.delete(issuer, subject, tx);
      if (id === undefined) return undefined;
      const about = { person_id: id, person: label, subject: actor.subject };
      await this.audit.record({ event: 'console.account_ended', actor, details: about }, tx);
      await this.replicas.tellIn(tx, TOKENS_CHANGED);
      return id;
    });
    if (ended !== undefined) await this.tokens.dropPerson(ended);
  }
}
