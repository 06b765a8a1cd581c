import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Database, Replicas } from '@app/platform';
import { AuditStore } from '../audit/audit.store.js';
import { type Actor, subjectIn } from '../authenticate/principal.js';
import { Tokens } from '../authenticate/tokens.js';
import { TOKENS_CHANGED } from '../tokens/issued-token.js';
import { PersonStore } from './person.store.js';

/** Ends the account of someone of the identity provider, with its sessions and clients. A later login makes another. */
export class EndPerson extends Command<void> {
  constructor(
    readonly id: string,
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(EndPerson)
export class EndPersonHandler implements ICommandHandler<EndPerson> {
  constructor(
    private readonly database: Database,
    private readonly store: PersonStore,
    private readonly audit: AuditStore,
    private readonly tokens: Tokens,
    private readonly replicas: Replicas,
  ) {}

  async execute({ id, actor }: EndPerson): Promise<void> {
    await this.database.transaction(async (tx) => {
      const { issuer, subject, label } = await this.store.deleteById(id, tx);
      const details = { person_id: id, person: label, subject: subjectIn('jwt', subject, issuer) };
      await this.audit.record({ event: 'console.account_ended', actor, details }, tx);
      await this.replicas.tellIn(tx, TOKENS_CHANGED);
    });
    await this.tokens.dropPerson(id);
  }
}
