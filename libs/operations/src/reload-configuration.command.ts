import { Inject } from '@nestjs/common';
import { Command, CommandBus, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Actor } from '@app/access';
import { ImportQuerySettings, readQuerySettings } from '@app/aggregation';
import { AppError, Clock, Env } from '@app/platform';
import { ImportPolicyFile, readPolicyFile } from '@app/policy';
import { ImportServers, readServersFile } from '@app/registry';
import { configurationText } from './configuration-text.js';

/** There is nothing to read again. */
export class NoConfigurationFile extends AppError {
  constructor() {
    super(
      'This service was started without a configuration file. Set MCP_AGGREGATOR_CONFIG, or send what is new by POST /api/v1/aggregator/servers/import.',
      { kind: 'conflict', code: 'NO_CONFIGURATION_FILE' },
    );
  }
}

export interface ReloadOutcome {
  readonly file: string;
  /** Names of servers. */
  readonly registered: readonly string[];
  /** Names of servers that were registered before; they are unchanged. */
  readonly known: readonly string[];
  readonly skipped: readonly { readonly key: string; readonly reason: string }[];
}

/**
 * Reads the configuration file: new servers are registered, settings of aggregated queries that are not set are set, and
 * its views and overrides are applied. The same at each start, by SIGHUP and by REST. The file is read once, and nothing
 * of it is applied before all of it could be read.
 */
export class ReloadConfiguration extends Command<ReloadOutcome> {
  constructor(readonly actor: Actor) {
    super();
  }
}

@CommandHandler(ReloadConfiguration)
export class ReloadConfigurationHandler implements ICommandHandler<ReloadConfiguration> {
  constructor(
    private readonly commands: CommandBus,
    private readonly clock: Clock,
    @Inject(Env) private readonly env: Env,
  ) {}

  async execute({ actor }: ReloadConfiguration): Promise<ReloadOutcome> {
    const file = this.env.MCP_AGGREGATOR_CONFIG;
    if (file === undefined) throw new NoConfigurationFile();
    const text = await configurationText(file, this.clock);
    const servers = readServersFile(text, file);
    const settings = readQuerySettings(text, file);
    const policy = await readPolicyFile(text, file);
    const outcome = await this.commands.execute(new ImportServers(servers, file, actor));
    if (settings) await this.commands.execute(new ImportQuerySettings(settings, file, actor));
    if (policy) await this.commands.execute(new ImportPolicyFile(policy, file, actor));
    return { file, ...outcome };
  }
}
