import { Command, CommandHandler, type ICommandHandler, QueryBus } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { PersonConnectionChanged } from '@app/events';
import { Database, Signals } from '@app/platform';
import { GetServer } from '@app/registry';
import { PersonCredentialStore } from './person-credential.store.js';
import { ConnectionNotFound } from './persons.errors.js';

/**
 * Deletes the credentials of a person for a server: `disconnect` with all that is known of the connection, `expire` so
 * that the person has to connect again. Throws ServerNotFound and ConnectionNotFound.
 */
export class EndConnection extends Command<void> {
  constructor(
    readonly serverId: string,
    readonly subject: string,
    readonly how: 'disconnect' | 'expire',
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(EndConnection)
export class EndConnectionHandler implements ICommandHandler<EndConnection> {
  constructor(
    private readonly database: Database,
    private readonly queries: QueryBus,
    private readonly store: PersonCredentialStore,
    private readonly audit: AuditStore,
    private readonly signals: Signals,
  ) {}

  async execute({ serverId, subject, how, actor }: EndConnection): Promise<void> {
    const server = await this.queries.execute(new GetServer(serverId));
    const holder = { serverId, subject };
    await this.database.transaction(async (tx) => {
      const row = await this.store.load(holder, tx);
      // A link alone is no connection.
      const isOne = row?.state !== undefined || (row?.connectedAt ?? null) !== null;
      const isDone =
        isOne &&
        (await (how === 'disconnect'
          ? this.store.delete(holder, tx)
          : this.store.expire(holder, tx)));
      if (!row || !isDone) throw new ConnectionNotFound(server.name);
      const { person } = row;
      const event = how === 'disconnect' ? 'connection.ended' : 'connection.expired';
      await this.audit.record({ event, actor, server, details: { person, subject } }, tx);
    });
    await this.signals.tell(new PersonConnectionChanged(serverId, subject));
  }
}
