import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { Database, Replicas } from '@app/platform';
import { ClientGrantStore, type NewClientGrant } from '../rows/client-grant.store.js';
import { RecordStore } from '../rows/record.store.js';
import { GRANTS_CHANGED } from './client-grant.js';
import { LiveGrants } from './live-grants.js';

/** Lets a client act for a person, after the person consented or because the person did so before. */
export class GiveClientGrant extends Command<void> {
  constructor(
    readonly grant: NewClientGrant,
    readonly actor: Actor,
    readonly wasAsked: boolean,
  ) {
    super();
  }
}

@CommandHandler(GiveClientGrant)
export class GiveClientGrantHandler implements ICommandHandler<GiveClientGrant> {
  constructor(
    private readonly database: Database,
    private readonly store: ClientGrantStore,
    private readonly records: RecordStore,
    private readonly audit: AuditStore,
    private readonly grants: LiveGrants,
    private readonly replicas: Replicas,
  ) {}

  async execute({ grant, actor, wasAsked }: GiveClientGrant): Promise<void> {
    await this.database.transaction(async (tx) => {
      for (const ended of await this.store.insert(grant, tx)) {
        await this.records.deleteOfGrant(ended, tx);
      }
      const { id, client, scopes, resource } = grant;
      const details = {
        grant_id: id,
        client: client.domain ?? client.name ?? 'unverified client',
        redirect_host: client.redirectHost,
        scopes: [...scopes],
        resource: resource === '' ? '/' : resource,
        remembered: !wasAsked,
      };
      await this.audit.record({ event: 'oauth.grant_given', actor, details }, tx);
      await this.replicas.tellIn(tx, GRANTS_CHANGED);
    });
    await this.grants.reload();
  }
}
