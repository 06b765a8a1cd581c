import { Injectable } from '@nestjs/common';
import { Database, Replicas } from '@app/platform';
import { randomBytes, randomUUID } from 'node:crypto';
import { PersonNotAllowed } from '../access.errors.js';
import { AuditStore } from '../audit/audit.store.js';
import { principalName } from '../authenticate/principal.js';
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
   * rejects with PersonNotAllowed.
   */
  async accept(person: ProvedPerson, ip: string | null): Promise<[hash: string, Holder]> {
    if (person.scopes.length === 0) {
      await this.end(person, ip);
      throw new PersonNotAllowed();
    }
    const fresh = { id: randomUUID(), sessionHash: randomBytes(32).toString('hex') };
    const { sessionHash } = await this.database.transaction(async (tx) => {
      const noted = await this.store.noteLogin(person, fresh, tx);
      await this.replicas.tellIn(tx, TOKENS_CHANGED);
      return noted;
    });
    await this.tokens.reload();
    const holder = this.tokens.holderOf(sessionHash);
    if (!holder) throw new PersonNotAllowed();
    return [sessionHash, holder];
  }

  private async end({ issuer, subject }: ProvedPerson, ip: string | null): Promise<void> {
    const name = principalName('jwt', subject);
    if (name === undefined) return;
    const wasKnown = await this.database.transaction(async (tx) => {
      if (!(await this.store.delete(issuer, subject, tx))) return false;
      await this.audit.record({ event: 'console.account_ended', actor: { name, ip } }, tx);
      await this.replicas.tellIn(tx, TOKENS_CHANGED);
      return true;
    });
    if (wasKnown) await this.tokens.dropPerson(subject);
  }
}
