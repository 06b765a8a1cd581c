import { Inject } from '@nestjs/common';
import { Command, CommandBus, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Actor } from '@app/access';
import { ImportQuerySettings } from '@app/aggregation';
import { AppError, Env } from '@app/platform';
import { ImportPolicyFile } from '@app/policy';
import { ImportServers } from '@app/registry';

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
 * its views and overrides are applied. The same at each start, by SIGHUP and by REST.
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
    @Inject(Env) private readonly env: Env,
  ) {}

  async execute({ actor }: ReloadConfiguration): Promise<ReloadOutcome> {
    const file = this.env.MCP_AGGREGATOR_CONFIG;
    if (file === undefined) throw new NoConfigurationFile();
    const outcome = await this.commands.execute(new ImportServers(file, actor));
    await this.commands.execute(new ImportQuerySettings(file, actor));
    await this.commands.execute(new ImportPolicyFile(file, actor));
    return { file, ...outcome };
  }
}
