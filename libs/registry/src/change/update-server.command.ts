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
  type Tx,
  Variables,
} from '@app/platform';
import { configRules, type ConnectionConfig } from '../connection/connection-config.js';
import { healthUrlIssues, nameIssues, readConfig } from '../register/new-server.js';
import { RenameTools } from './rename-tools.command.js';
import { credentialIssues } from '../credentials/personal-template.js';
import type { CredentialMode, Server } from '../server.js';
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
  readonly credentials?: CredentialMode | undefined;
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
    const { server, fields, isReconfigured } = await this.database.bulk.transaction((tx) =>
      this.change({ serverId, update, actor }, tx),
    );
    await this.signals.tell(new ServerUpdated(serverId, fields));
    if (isReconfigured) await this.signals.tell(new ServerConnectionChanged(serverId));
    return server;
  }

  private async change(
    { serverId, update, actor }: Pick<UpdateServer, 'serverId' | 'update' | 'actor'>,
    tx: Tx,
  ): Promise<Changed> {
    const found = await this.servers.lock(serverId, tx);
    const { changes, isReconfigured } = await this.parsed(found, update, tx);
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
    const server = await this.servers.get(serverId, tx);
    const details = { fields, ...trustChange(found, update) };
    await this.audit.record({ event: 'server.updated', actor, server, details }, tx);
    return { server, fields, isReconfigured };
  }

  /** Throws InvalidInput. */
  private async parsed(
    found: Server,
    update: ServerUpdate,
    tx: Tx,
  ): Promise<{ changes: ServerChanges; isReconfigured: boolean }> {
    const rules = configRules(this.env, this.variables);
    const given = update.connectionConfig;
    const mode = update.credentials ?? found.credentials;
    const isReconfigured = given !== undefined || mode !== found.credentials;
    const stored = isReconfigured ? await this.servers.config(found.id, tx) : undefined;
    const config =
      given === undefined || !stored
        ? undefined
        : readConfig(found.transportType, unmask(given, stored), rules);
    const isSameUrl = isStoredUrl(update.healthCheckUrl, found.healthCheckUrl);
    const healthCheckUrl = isSameUrl ? undefined : update.healthCheckUrl;
    const next = config?.issues ? undefined : (config?.config ?? stored);
    const issues = [
      ...(update.name === undefined ? [] : nameIssues(update.name)),
      ...healthUrlIssues(healthCheckUrl, rules),
      ...(config?.issues ?? []),
      ...(next ? credentialIssues(mode, next) : []),
    ];
    if (issues.length > 0) throw new InvalidInput(issues);
    const credentials = mode === found.credentials ? undefined : mode;
    const changes = changesOf({ ...update, healthCheckUrl, credentials }, config?.config);
    return { changes, isReconfigured };
  }
}

interface Changed {
  readonly server: Server;
  readonly fields: readonly string[];
  /** Open sessions use another configuration. */
  readonly isReconfigured: boolean;
}

function changesOf(
  { name, description, healthCheckUrl, trust, credentials }: ServerUpdate,
  config: ConnectionConfig | undefined,
): ServerChanges {
  return {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(healthCheckUrl !== undefined && { healthCheckUrl }),
    ...(trust !== undefined && { trust }),
    ...(credentials && { credentials }),
    ...(config && { config }),
  };
}

/** Null stands for the setting. */
function trustChange(before: Server, { trust }: ServerUpdate): JsonObject {
  const isChanged = trust !== undefined && trust !== before.trust;
  return isChanged ? { trust_from: before.trust, trust_to: trust } : {};
}
