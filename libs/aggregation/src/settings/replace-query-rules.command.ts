import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { Database, inSlices, InvalidInput } from '@app/platform';
import { checkingRules, type QueryRule } from '../choose/query-rule.js';
import { QuerySettings } from './query-settings.js';
import { QuerySettingsStore } from './query-settings.store.js';

/** Replaces the list of rules as a whole, because the order decides. */
export class ReplaceQueryRules extends Command<void> {
  constructor(
    readonly rules: readonly QueryRule[],
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(ReplaceQueryRules)
export class ReplaceQueryRulesHandler implements ICommandHandler<ReplaceQueryRules> {
  constructor(
    private readonly database: Database,
    private readonly store: QuerySettingsStore,
    private readonly settings: QuerySettings,
    private readonly audit: AuditStore,
  ) {}

  async execute({ rules, actor }: ReplaceQueryRules): Promise<void> {
    const issues = await inSlices(checkingRules(rules));
    if (issues.length > 0) throw new InvalidInput(issues);
    await this.database.transaction(async (tx) => {
      await this.store.replaceRules(rules, tx);
      await this.audit.record(
        { event: 'query.rules_changed', actor, details: { rules: rules.length } },
        tx,
      );
    });
    await this.settings.changed();
  }
}
