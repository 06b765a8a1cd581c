import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { Database, Replicas } from '@app/platform';
import { ClientGrantStore } from '../rows/client-grant.store.js';
import { RecordStore } from '../rows/record.store.js';
import { GRANTS_CHANGED } from './client-grant.js';
import { LiveGrants } from './live-grants.js';

/** Refuses every token of a client from the next request on, here at once, at other replicas within a second. */
export class WithdrawClientGrant extends Command<void> {
  constructor(
    readonly id: string,
    /** Undefined for those who may withdraw every grant. */
    readonly accounts: readonly string[] | undefined,
    readonly actor: Actor,
    readonly cause: 'person' | 'client' | 'reuse',
  ) {
    super();
  }
}

@CommandHandler(WithdrawClientGrant)
export class WithdrawClientGrantHandler implements ICommandHandler<WithdrawClientGrant> {
  constructor(
    private readonly database: Database,
    private readonly store: ClientGrantStore,
    private readonly records: RecordStore,
    private readonly audit: AuditStore,
    private readonly grants: LiveGrants,
    private readonly replicas: Replicas,
  ) {}

  async execute({ id, accounts, actor, cause }: WithdrawClientGrant): Promise<void> {
    await this.database.transaction(async (tx) => {
      const { person, client } = await this.store.lock(id, accounts, tx);
      await this.store.delete(id, tx);
      await this.records.deleteOfGrant(id, tx);
      const details = {
        grant_id: id,
        person,
        client: client.domain ?? client.name ?? 'unverified client',
        cause,
      };
      await this.audit.record({ event: 'oauth.grant_withdrawn', actor, details }, tx);
      await this.replicas.tellIn(tx, GRANTS_CHANGED);
    });
    this.grants.drop(id);
  }
}
