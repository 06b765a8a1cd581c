import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { Database, InvalidInput } from '@app/platform';
import { type QueryRule, ruleIssues } from './query-rule.js';
import { QuerySettingsStore } from './query-settings.store.js';

/** Puts a list of rules in the place of the present one: their order is what they mean, so they change together. */
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
    private readonly settings: QuerySettingsStore,
    private readonly audit: AuditStore,
  ) {}

  async execute({ rules, actor }: ReplaceQueryRules): Promise<void> {
    const issues = ruleIssues(rules);
    if (issues.length > 0) throw new InvalidInput(issues);
    await this.database.transaction(async (tx) => {
      await this.settings.replaceRules(rules, tx);
      await this.audit.record(
        { event: 'query.rules_changed', actor, details: { rules: rules.length } },
        tx,
      );
    });
  }
}
