import { Inject } from '@nestjs/common';
import { Command, CommandBus, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { ServerConnectionChanged, ServerUpdated } from '@app/events';
import {
  Database,
  Env,
  InvalidInput,
  type JsonObject,
  Signals,
  type Trust,
  Variables,
} from '@app/platform';
import { configRules, type ConnectionConfig } from '../connection/connection-config.js';
import { healthUrlIssues, nameIssues, readConfig } from '../register/new-server.js';
import { RenameTools } from './rename-tools.command.js';
import type { Server } from '../server.js';
import { type ServerChanges, ServerStore } from '../server.store.js';
import { isStoredUrl, unmask } from '../connection/unmask.js';

export interface ServerUpdate {
  readonly name?: string | undefined;
  readonly description?: string | null | undefined;
  readonly healthCheckUrl?: string | null | undefined;
  /** Unparsed; masked values mean "as stored". */
  readonly connectionConfig?: unknown;
  /** Null: as the setting says. */
  readonly trust?: Trust | null | undefined;
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

      const changes = changesOf({ ...update, healthCheckUrl }, config?.config);
      await this.servers.update(serverId, changes, tx);
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
        {
          fields,
          ...trustChange(found, update),
          ...(renamed && { from: found.name, to: update.name ?? found.name }),
        },
        tx,
      );
      const changed = await this.servers.get(serverId, tx);
      await this.audit.record(
        {
          event: 'server.updated',
          actor,
          server: changed,
          details: { fields, ...trustChange(found, update) },
        },
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

function changesOf(
  { name, description, healthCheckUrl, trust }: ServerUpdate,
  config: ConnectionConfig | undefined,
): ServerChanges {
  return {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(healthCheckUrl !== undefined && { healthCheckUrl }),
    ...(trust !== undefined && { trust }),
    ...(config && { config }),
  };
}

/** Null stands for the setting. */
function trustChange(before: Server, { trust }: ServerUpdate): JsonObject {
  const isChanged = trust !== undefined && trust !== before.trust;
  return isChanged ? { trust_from: before.trust, trust_to: trust } : {};
}
