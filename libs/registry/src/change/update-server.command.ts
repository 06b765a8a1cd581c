import { Inject } from '@nestjs/common';
import { Command, CommandBus, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { ServerConnectionChanged, ServerUpdated } from '@app/events';
import { Database, Env, InvalidInput, Signals, Variables } from '@app/platform';
import { configRules } from '../connection/connection-config.js';
import { healthUrlIssues, nameIssues, readConfig } from '../register/new-server.js';
import { RenameTools } from './rename-tools.command.js';
import type { Server } from '../server.js';
import { ServerStore } from '../server.store.js';
import { isStoredUrl, unmask } from '../connection/unmask.js';

export interface ServerUpdate {
  readonly name?: string | undefined;
  readonly description?: string | null | undefined;
  readonly healthCheckUrl?: string | null | undefined;
  /** Unparsed; masked values mean "as stored". */
  readonly connectionConfig?: unknown;
}

/** Changes the fields that may change (contract R9); undefined fields stay. */
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
    private readonly commands: CommandBus,
    private readonly signals: Signals,
    @Inject(Env) private readonly env: Env,
    private readonly variables: Variables,
  ) {}

  async execute({ serverId, update, actor }: UpdateServer): Promise<Server> {
    const rules = configRules(this.env, this.variables);
    const { server, fields } = await this.database.bulk.transaction(async (tx) => {
      const found = await this.servers.lock(serverId, tx);
      const config =
        update.connectionConfig === undefined
          ? undefined
          : readConfig(
              found.transportType,
              unmask(update.connectionConfig, await this.servers.config(serverId, tx)),
              rules,
            );
      const healthCheckUrl = isStoredUrl(update.healthCheckUrl, found.healthCheckUrl)
        ? undefined
        : update.healthCheckUrl;
      const issues = [
        ...(update.name === undefined ? [] : nameIssues(update.name)),
        ...healthUrlIssues(healthCheckUrl, rules),
        ...(config?.issues ?? []),
      ];
      if (issues.length > 0) throw new InvalidInput(issues);

      await this.servers.update(
        serverId,
        {
          ...(update.name !== undefined && { name: update.name }),
          ...(update.description !== undefined && { description: update.description }),
          ...(healthCheckUrl !== undefined && { healthCheckUrl }),
          ...(config?.config && { config: config.config }),
        },
        tx,
      );
      const renamed = update.name !== undefined && update.name !== found.name;
      if (renamed) {
        await this.commands.execute(new RenameTools(serverId, update.name ?? found.name, tx));
      }
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
    await this.signals.tell(new ServerUpdated(serverId, fields));
    if (update.connectionConfig !== undefined) {
      await this.signals.tell(new ServerConnectionChanged(serverId));
    }
    return server;
  }
}
