import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { Catalogue } from '@app/catalogue';
import { Clock, type FieldIssue, InvalidInput, type JsonObject } from '@app/platform';
import { randomUUID } from 'node:crypto';
import { Policy } from '../policy.js';
import { PolicyLimitReached, ViewExists, ViewNotFound } from '../policy.errors.js';
import { MAX_VIEWS, type View, type ViewRule } from './view.js';
import { type GivenRule, type GivenView, viewDocument } from './view-document.js';

/** Makes a view, or replaces one as a whole. Saving what is there already changes nothing. */
export class SaveView extends Command<View> {
  constructor(
    readonly slug: string,
    readonly given: GivenView,
    /** `create` refuses a view that is there; `replace` one that is not; `apply` takes both. */
    readonly mode: 'create' | 'replace' | 'apply',
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(SaveView)
export class SaveViewHandler implements ICommandHandler<SaveView> {
  constructor(
    private readonly policy: Policy,
    private readonly catalogue: Catalogue,
    private readonly audit: AuditStore,
    private readonly clock: Clock,
  ) {}

  execute({ slug, given, mode, actor }: SaveView): Promise<View> {
    const rules = this.rulesOf(given.rules);
    const servers = this.catalogue.current.servers;
    return this.policy.change(async (tx, now) => {
      const before = now.viewsBySlug.get(slug);
      if (before && mode === 'create') throw new ViewExists(slug);
      if (!before && mode === 'replace') throw new ViewNotFound(slug);
      if (!before && now.viewsById.size >= MAX_VIEWS)
        throw new PolicyLimitReached('views', MAX_VIEWS);
      const at = this.clock.now();
      const view: View = {
        id: before?.id ?? randomUUID(),
        slug,
        title: given.title ?? null,
        description: given.description ?? null,
        budgetTokens: given.budget_tokens ?? null,
        rules,
        createdAt: before?.createdAt ?? at,
        updatedAt: at,
      };
      const documents = {
        before: before ? viewDocument(before, servers) : null,
        after: viewDocument(view, servers),
      };
      if (before && isSame(documents.before, documents.after))
        return { done: before, entry: undefined };
      await this.policy.rows.saveView(view, tx);
      const details = { view: slug, rules: rules.length };
      await this.audit.record({ event: 'view.saved', actor, details }, tx);
      const entry = { change: 'view.saved', subject: slug, ...documents, actor: actor.name };
      return { done: view, entry };
    });
  }

  private rulesOf(given: readonly GivenRule[]): readonly ViewRule[] {
    const { serversByName } = this.catalogue.current;
    const issues: FieldIssue[] = [];
    const rules = given.map((rule, i): ViewRule => {
      const server = rule.server == null ? undefined : serversByName.get(rule.server);
      if (rule.server != null && !server) {
        const msg = `No server is named ${rule.server.slice(0, 100)}; register it first`;
        issues.push({ loc: ['body', 'rules', i, 'server'], msg, type: 'value_error' });
      }
      const isOfTools = rule.skill != null || rule.annotation != null;
      if (isOfTools && (rule.kind === 'prompt' || rule.kind === 'resource')) {
        const msg = 'Only tools have skills and annotations';
        issues.push({ loc: ['body', 'rules', i, 'kind'], msg, type: 'value_error' });
      }
      return {
        effect: rule.effect ?? 'include',
        kind: rule.kind ?? 'any',
        serverId: server?.id ?? null,
        namePattern: rule.name ?? null,
        skillId: rule.skill ?? null,
        annotation: rule.annotation ?? null,
      };
    });
    if (issues.length > 0) throw new InvalidInput(issues);
    return rules;
  }
}

function isSame(one: JsonObject | null, other: JsonObject): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
