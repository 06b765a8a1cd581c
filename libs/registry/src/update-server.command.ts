import { Inject } from '@nestjs/common';
import { Command, CommandHandler, EventBus, type ICommandHandler } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { ServerConnectionChanged, ServerUpdated } from '@app/events';
import { Database, Env, InvalidInput, Variables } from '@app/platform';
import { configRules, unmask } from './connection-config.js';
import { healthUrlIssues, nameIssues, readConfig } from './new-server.js';
import type { Server } from './server.js';
import { ServerStore } from './server.store.js';

export interface ServerUpdate {
  readonly name?: string | undefined;
  readonly description?: string | null | undefined;
  readonly healthCheckUrl?: string | null | undefined;
  /** As it came; masked values mean "as stored". */
  readonly connectionConfig?: unknown;
}

/** Changes what may change (RULINGS R9); what is absent stays. */
export class UpdateServer extends Command<Server> {
  constructor(
    readonly serverId: string,
    readonly update: ServerUpdate,
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(UpdateServer)
export class UpdateServerHandler implements ICommandHandler<UpdateServer> {
  constructor(
    private readonly database: Database,
    private readonly servers: ServerStore,
    private readonly audit: AuditStore,
    private readonly events: EventBus,
    @Inject(Env) private readonly env: Env,
    private readonly variables: Variables,
  ) {}

  async execute({ serverId, update, actor }: UpdateServer): Promise<Server> {
    const { server, fields } = await this.database.transaction(async (tx) => {
      const found = await this.servers.lock(serverId, tx);
      const config =
        update.connectionConfig === undefined
          ? undefined
          : readConfig(
              found.transportType,
              unmask(update.connectionConfig, await this.servers.config(serverId, tx)),
              configRules(this.env, this.variables),
            );
      const issues = [
        ...(update.name === undefined ? [] : nameIssues(update.name)),
        ...healthUrlIssues(update.healthCheckUrl),
        ...(config?.issues ?? []),
      ];
      if (issues.length > 0) throw new InvalidInput(issues);

      await this.servers.update(
        serverId,
        {
          ...(update.name !== undefined && { name: update.name }),
          ...(update.description !== undefined && { description: update.description }),
          ...(update.healthCheckUrl !== undefined && { healthCheckUrl: update.healthCheckUrl }),
          ...(config?.config && { config: config.config }),
        },
        tx,
      );
      const renamed = update.name !== undefined && update.name !== found.name;
      if (renamed) await this.servers.renameTools(serverId, update.name ?? found.name, tx);
      const fields = Object.entries(update).flatMap(([field, value]) =>
        value === undefined ? [] : [field],
      );
      await this.servers.addHistory(
        serverId,
        renamed ? 'RENAMED' : 'UPDATED',
        { fields, ...(renamed && { from: found.name, to: update.name ?? found.name }) },
        tx,
      );
      const changed = await this.servers.get(serverId, tx);
      await this.audit.record(
        { event: 'server.updated', actor, server: changed, details: { fields } },
        tx,
      );
      return { server: changed, fields };
    });
    this.events.publish(new ServerUpdated(serverId, fields));
    if (update.connectionConfig !== undefined) {
      this.events.publish(new ServerConnectionChanged(serverId));
    }
    return server;
  }
}
