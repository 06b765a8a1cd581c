import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { Database, Replicas } from '@app/platform';
import { ClientGrantStore, type GrantsOf } from '../rows/client-grant.store.js';
import { RecordStore } from '../rows/record.store.js';
import { GRANTS_CHANGED } from './client-grant.js';
import { LiveGrants } from './live-grants.js';

/**
 * Refuses every token of a client from the next request on, here at once, at other replicas within a second. A person
 * who withdraws one grant stops the client, also where it has others.
 */
export class WithdrawClientGrant extends Command<void> {
  constructor(
    readonly id: string,
    /** Undefined for those who may withdraw every grant. */
    readonly of: GrantsOf | undefined,
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

  async execute({ id, of, actor, cause }: WithdrawClientGrant): Promise<void> {
    const ended = await this.database.transaction(async (tx) => {
      const { account, person, client } = await this.store.lock(id, of, tx);
      await this.store.delete(id, tx);
      const others =
        cause === 'person' ? await this.store.deleteOfClient(account, client.id, tx) : [];
      const ids = [id, ...others];
      for (const grantId of ids) {
        await this.records.deleteOfGrant(grantId, tx);
        const details = {
          grant_id: grantId,
          person,
          client: client.domain ?? client.name ?? 'unverified client',
          cause,
        };
        await this.audit.record({ event: 'oauth.grant_withdrawn', actor, details }, tx);
      }
      await this.replicas.tellIn(tx, GRANTS_CHANGED);
      return ids;
    });
    await this.grants.drop(ended);
  }
}
