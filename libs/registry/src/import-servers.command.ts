import { Logger } from '@nestjs/common';
import { Command, CommandBus, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Actor } from '@app/access';
import { AppError } from '@app/platform';
import { readFile } from 'node:fs/promises';
import { RegisterServer } from './register-server.command.js';
import { ServerAlreadyExists, UnreadableServersFile } from './registry.errors.js';
import { ServerStore } from './server.store.js';
import { readServersFile, type SkippedEntry } from './servers-file.js';

export interface ImportOutcome {
  readonly registered: readonly string[];
  readonly known: readonly string[];
  readonly skipped: readonly SkippedEntry[];
}

/** Registers what is new in an `mcpServers` file. A known name is left as it is, so the file may be read at every start. */
export class ImportServers extends Command<ImportOutcome> {
  constructor(
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

  async execute({ file, actor }: ImportServers): Promise<ImportOutcome> {
    const { entries, skipped } = readServersFile(await this.text(file), file);
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
        // One bad entry must not keep the others out; another replica reading the same file is no fault.
        if (!(error instanceof AppError)) throw error;
        if (error instanceof ServerAlreadyExists) outcome.known.push(registration.name);
        else outcome.skipped.push({ key, reason: error.message });
      }
    }
    for (const { key, reason } of outcome.skipped) {
      this.logger.warn(
        { file, server: key, reason },
        'server in the servers file was not registered',
      );
    }
    return outcome;
  }

  private async text(file: string): Promise<string> {
    try {
      return await readFile(file, 'utf8');
    } catch {
      throw new UnreadableServersFile(file, 'it cannot be read');
    }
  }
}
