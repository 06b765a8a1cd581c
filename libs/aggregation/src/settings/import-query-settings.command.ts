import { Logger } from '@nestjs/common';
import { Command, CommandBus, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Actor } from '@app/access';
import { Catalogue } from '@app/catalogue';
import { ChangeServerSettings } from './change-server-settings.command.js';
import type { QuerySettingsSection } from './query-settings-file.js';
import { QuerySettingsStore } from './query-settings.store.js';
import { ReplaceQueryRules } from './replace-query-rules.command.js';

/**
 * Imports the `aggregation` section of the configuration file. Existing rules and settings are not
 * changed, so that the file can be imported at every start. `file` is used in logs only.
 */
export class ImportQuerySettings extends Command<void> {
  constructor(
    readonly section: QuerySettingsSection,
    readonly file: string,
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(ImportQuerySettings)
export class ImportQuerySettingsHandler implements ICommandHandler<ImportQuerySettings> {
  private readonly logger = new Logger(ImportQuerySettings.name);

  constructor(
    private readonly catalogue: Catalogue,
    private readonly store: QuerySettingsStore,
    private readonly commands: CommandBus,
  ) {}

  async execute({ section, file, actor }: ImportQuerySettings): Promise<void> {
    if (section.rules.length > 0 && (await this.store.rules()).length === 0) {
      await this.commands.execute(new ReplaceQueryRules(section.rules, actor));
    }
    // The servers of the same file have just been registered.
    await this.catalogue.reloadServers();
    const known = await this.store.servers();
    for (const [name, settings] of section.servers) {
      const server = this.catalogue.current.serversByName.get(name);
      if (!server) this.logger.warn({ file, server: name }, 'query.settings_of_unknown_server');
      else if (!known.has(server.id)) {
        await this.commands.execute(new ChangeServerSettings(server, settings, actor));
      }
    }
  }
}
