import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { ServerRegistered } from '@app/events';
import { Clock, Database, Env, Signals, Variables } from '@app/platform';
import { randomUUID } from 'node:crypto';
import { configRules } from '../connection/connection-config.js';
import { newServer, type Registration } from './new-server.js';
import { ServerLimitReached } from '../registry.errors.js';
import { type Server, writtenServer } from '../server.js';
import { ServerStore } from '../server.store.js';

/**
 * Registers a server. With `autoConnect` the row says CONNECTING before the response; the sessions lib opens the
 * session on `ServerRegistered`.
 */
export class RegisterServer extends Command<Server> {
  constructor(
    readonly registration: Registration,
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(RegisterServer)
export class RegisterServerHandler implements ICommandHandler<RegisterServer> {
  constructor(
    private readonly database: Database,
    private readonly servers: ServerStore,
    private readonly audit: AuditStore,
    private readonly signals: Signals,
    private readonly clock: Clock,
    @Inject(Env) private readonly env: Env,
    private readonly variables: Variables,
  ) {}

  async execute({ registration, actor }: RegisterServer): Promise<Server> {
    const connect = registration.autoConnect && this.env.MCP_AGGREGATOR_ENABLED;
    const { server: described, config } = newServer(
      randomUUID(),
      registration,
      this.clock.now(),
      configRules(this.env, this.variables),
    );
    const server: Server = connect ? { ...described, status: 'CONNECTING' } : described;
    const limit = this.env.MCP_AGGREGATOR_MAX_SERVERS;
    await this.database.transaction(async (tx) => {
      await this.servers.insert(server, config, tx);
      await this.servers.addHistory(server.id, 'REGISTERED', { name: server.name }, tx);
      if (connect) {
        await this.servers.addHistory(server.id, 'CONNECTING', { from: 'DISCONNECTED' }, tx);
      }
      await this.audit.record(
        {
          event: 'server.registered',
          actor,
          server,
          details: { transport_type: server.transportType },
        },
        tx,
      );
      // Last, because it blocks other registrations until the commit.
      if ((await this.servers.countForRegistration(tx)) > limit)
        throw new ServerLimitReached(limit);
    });
    // The initial status belongs to the registration, so no status change is published.
    await this.signals.tell(new ServerRegistered(server.id, writtenServer(server)));
    return server;
  }
}
