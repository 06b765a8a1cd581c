import { Logger } from '@nestjs/common';
import { Command, CommandBus, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Actor } from '@app/access';
import { AppError, DatabaseUnavailable } from '@app/platform';
import { RegisterServer } from './register-server.command.js';
import { ServerAlreadyExists } from '../registry.errors.js';
import { ServerStore } from '../server.store.js';
import type { ServersFile, SkippedEntry } from './servers-file.js';

export interface ImportOutcome {
  readonly registered: readonly string[];
  readonly known: readonly string[];
  readonly skipped: readonly SkippedEntry[];
}

/**
 * Registers the new servers of an `mcpServers` file. Servers that already exist are skipped, so the file can be
 * imported at every start. `file` is used in logs only.
 */
export class ImportServers extends Command<ImportOutcome> {
  constructor(
    readonly content: ServersFile,
    readonly file: string,
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(ImportServers)
export class ImportServersHandler implements ICommandHandler<ImportServers> {
  private readonly logger = new Logger(ImportServers.name);

  constructor(
    private readonly servers: ServerStore,
    private readonly commands: CommandBus,
  ) {}

  async execute({ content, file, actor }: ImportServers): Promise<ImportOutcome> {
    const { entries, skipped } = content;
    const names = await this.servers.names();
    const outcome = { registered: [] as string[], known: [] as string[], skipped: [...skipped] };
    for (const { key, registration } of entries) {
      if (names.has(registration.name)) {
        outcome.known.push(registration.name);
        continue;
      }
      try {
        await this.commands.execute(new RegisterServer(registration, actor));
        outcome.registered.push(registration.name);
      } catch (error) {
        // An invalid entry must not block the others, and another replica may import the same file at the same time.
        if (!(error instanceof AppError) || error instanceof DatabaseUnavailable) throw error;
        if (error instanceof ServerAlreadyExists) outcome.known.push(registration.name);
        else outcome.skipped.push({ key, reason: error.message });
      }
    }
    for (const { key, reason } of outcome.skipped) {
      this.logger.warn(
        { file, server: key, reason, hint: 'this entry of the file was not registered' },
        'server.import_refused',
      );
    }
    return outcome;
  }
}
