import { Inject } from '@nestjs/common';
import { Command, CommandHandler, EventBus, type ICommandHandler } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { ServerRegistered, ServerStatusChanged } from '@app/events';
import { Clock, Database, Env, Variables } from '@app/platform';
import { randomUUID } from 'node:crypto';
import { configRules } from './connection-config.js';
import { newServer, type Registration } from './new-server.js';
import { ServerLimitReached } from './registry.errors.js';
import type { Server } from './server.js';
import { ServerStore } from './server.store.js';

/** Adds a server. With `autoConnect` its row says CONNECTING before the answer; the session is opened by who listens. */
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
    private readonly events: EventBus,
    private readonly clock: Clock,
    @Inject(Env) private readonly env: Env,
    private readonly variables: Variables,
  ) {}

  async execute({ registration, actor }: RegisterServer): Promise<Server> {
    const connect = registration.autoConnect && this.env.MCP_AGGREGATOR_ENABLED;
    const { server, config } = newServer(
      randomUUID(),
      registration,
      this.clock.now(),
      configRules(this.env, this.variables),
    );
    const limit = this.env.MCP_AGGREGATOR_MAX_SERVERS;
    await this.database.transaction(async (tx) => {
      if ((await this.servers.countForRegistration(tx)) >= limit)
        throw new ServerLimitReached(limit);
      await this.servers.insert(server, config, tx);
      await this.servers.addHistory(server.id, 'REGISTERED', { name: server.name }, tx);
      if (connect) {
        await this.servers.update(server.id, { status: 'CONNECTING' }, tx);
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
    });
    this.events.publish(new ServerRegistered(server.id));
    if (connect)
      this.events.publish(new ServerStatusChanged(server.id, 'DISCONNECTED', 'CONNECTING'));
    return connect ? { ...server, status: 'CONNECTING' } : server;
  }
}
