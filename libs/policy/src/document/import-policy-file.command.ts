import { Logger } from '@nestjs/common';
import { Command, CommandBus, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Actor } from '@app/access';
import { Catalogue } from '@app/catalogue';
import { InvalidInput, isJsonObject, parseConfigFile, UnreadableConfigFile } from '@app/platform';
import { UnreadablePolicy } from '../policy.errors.js';
import { ImportPolicy } from './import-policy.command.js';
import { type PolicyDocument, readPolicyDocument } from './policy-document.js';

/**
 * Imports `views` and `overrides` of the configuration file, beside `mcpServers`. What the file does not have stays.
 * `file` is used in logs only.
 */
export class ImportPolicyFile extends Command<void> {
  constructor(
    readonly document: PolicyDocument,
    readonly file: string,
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(ImportPolicyFile)
export class ImportPolicyFileHandler implements ICommandHandler<ImportPolicyFile> {
  private readonly logger = new Logger(ImportPolicyFile.name);

  constructor(
    private readonly commands: CommandBus,
    private readonly catalogue: Catalogue,
  ) {}

  async execute({ document, file, actor }: ImportPolicyFile): Promise<void> {
    // The servers of the same file have just been registered.
    await this.catalogue.reloadServers();
    const { refused } = await this.commands.execute(new ImportPolicy(document, false, actor));
    for (const { place, reason } of refused) {
      this.logger.warn(
        { file, place, reason, hint: 'this part of the file was not applied' },
        'policy.import_refused',
      );
    }
  }
}

/** Undefined when the file has no such sections. `file` is used in messages only. */
export async function readPolicyFile(
  text: string,
  file: string,
): Promise<PolicyDocument | undefined> {
  try {
    const content = parseConfigFile(text);
    const { views, overrides } = isJsonObject(content) ? content : {};
    if (views === undefined && overrides === undefined) return undefined;
    return await readPolicyDocument({ views, overrides });
  } catch (error) {
    if (error instanceof UnreadableConfigFile) throw new UnreadablePolicy(file, error.message);
    if (!(error instanceof InvalidInput)) throw error;
    const [issue] = error.issues ?? [];
    throw new UnreadablePolicy(file, `${issue?.loc.slice(1).join('.')}: ${issue?.msg}`);
  }
}
