import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { Catalogue, type CatalogueServer } from '@app/catalogue';
import { Database, InvalidInput } from '@app/platform';
import { QueriedServerNotFound } from '../aggregation.errors.js';
import { QuerySettings } from './query-settings.js';
import { QuerySettingsStore } from './query-settings.store.js';
import { type ServerQuerySettings, settingsIssues } from './server-query-settings.js';

/** Sets how a server takes part in aggregated queries; null restores the defaults. */
export class ChangeServerSettings extends Command<void> {
  constructor(
    readonly server: CatalogueServer,
    readonly settings: ServerQuerySettings | null,
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(ChangeServerSettings)
export class ChangeServerSettingsHandler implements ICommandHandler<ChangeServerSettings> {
  constructor(
    private readonly database: Database,
    private readonly catalogue: Catalogue,
    private readonly store: QuerySettingsStore,
    private readonly settings: QuerySettings,
    private readonly audit: AuditStore,
  ) {}

  async execute({ server, settings, actor }: ChangeServerSettings): Promise<void> {
    const tools = this.catalogue.current.tools.filter(({ serverId }) => serverId === server.id);
    const issues = settings ? settingsIssues(settings, tools) : [];
    if (issues.length > 0) throw new InvalidInput(issues);
    await this.database.transaction(async (tx) => {
      if (!settings) await this.store.forgetServer(server.id, tx);
      else if (!(await this.store.saveServer(server.id, settings, tx))) {
        throw new QueriedServerNotFound(server.name);
      }
      await this.audit.record(
        {
          event: 'query.server_changed',
          actor,
          server,
          details: settings ? { tool: settings.tool, enabled: settings.enabled } : { reset: true },
        },
        tx,
      );
    });
    await this.settings.changed();
  }
}
