import { Command, CommandBus, CommandHandler, type ICommandHandler, QueryBus } from '@nestjs/cqrs';
import type { Actor } from '@app/access';
import { AppError, DatabaseUnavailable } from '@app/platform';
import { RegisterServer } from '../register/register-server.command.js';
import type { Server } from '../server.js';
import { PlanImport } from './plan-import.query.js';

export interface PastedOutcome {
  readonly registered: readonly Server[];
  readonly skipped: readonly { readonly key: string; readonly reason: string }[];
}

/** Registers the pasted servers that are new; others, and those that are refused, are named with the reason. */
export class ImportPasted extends Command<PastedOutcome> {
  constructor(
    readonly text: string,
    readonly values: Readonly<Record<string, string>>,
    /** Keys as pasted; undefined for all that are new. */
    readonly keys: readonly string[] | undefined,
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(ImportPasted)
export class ImportPastedHandler implements ICommandHandler<ImportPasted> {
  constructor(
    private readonly queries: QueryBus,
    private readonly commands: CommandBus,
  ) {}

  async execute({ text, values, keys, actor }: ImportPasted): Promise<PastedOutcome> {
    const planned = await this.queries.execute(new PlanImport(text, values));
    const wanted = keys && new Set(keys);
    const registered: Server[] = [];
    const skipped = [...(wanted ?? [])]
      .filter((key) => planned.every((entry) => entry.key !== key))
      .map((key) => ({ key, reason: 'it was not pasted' }));
    for (const { key, verdict, reason, registration } of planned) {
      if (wanted && !wanted.has(key)) continue;
      if (verdict !== 'new' || !registration) {
        skipped.push({ key, reason: reason ?? (verdict === 'known' ? KNOWN : CHANGED) });
        continue;
      }
      try {
        registered.push(await this.commands.execute(new RegisterServer(registration, actor)));
      } catch (error) {
        // One entry must not block the others.
        if (!(error instanceof AppError) || error instanceof DatabaseUnavailable) throw error;
        skipped.push({ key, reason: error.message });
      }
    }
    return { registered, skipped };
  }
}

const KNOWN = 'it is registered already';
const CHANGED = 'a server of this name is registered otherwise; change that one';
