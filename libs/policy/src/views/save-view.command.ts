import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { Catalogue } from '@app/catalogue';
import { Clock, type JsonObject } from '@app/platform';
import { randomUUID } from 'node:crypto';
import { Policy } from '../policy.js';
import { PolicyLimitReached, ViewExists, ViewNotFound } from '../policy.errors.js';
import { readRules } from './read-rules.js';
import { MAX_VIEWS, type View } from './view.js';
import { type GivenView, viewDocument } from './view-document.js';

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
    const rules = readRules(given.rules, this.catalogue.current.serversByName);
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
}

function isSame(one: JsonObject | null, other: JsonObject): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
