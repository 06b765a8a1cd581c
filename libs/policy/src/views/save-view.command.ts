import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Actor } from '@app/access';
import { Catalogue } from '@app/catalogue';
import { Clock, type JsonObject } from '@app/platform';
import { randomUUID } from 'node:crypto';
import { Policy } from '../policy.js';
import { PolicyLimitReached, ViewExists, ViewNotFound } from '../policy.errors.js';
import type { PolicyDraft } from '../rows/policy-draft.js';
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
    private readonly clock: Clock,
  ) {}

  execute(command: SaveView): Promise<View> {
    return this.policy.change((draft) => this.apply(command, draft));
  }

  /** Throws before it writes. */
  async apply({ slug, given, mode, actor }: SaveView, draft: PolicyDraft): Promise<View> {
    const rules = readRules(given.rules, this.catalogue.current.serversByName);
    const { servers } = this.catalogue.current;
    const before = draft.findView(slug);
    if (before && mode === 'create') throw new ViewExists(slug);
    if (!before && mode === 'replace') throw new ViewNotFound(slug);
    if (!before && draft.counts.views >= MAX_VIEWS)
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
    if (before && isSame(documents.before, documents.after)) return before;
    await draft.saveView(view);
    const details = { view: slug, rules: rules.length };
    await draft.note({ change: 'view.saved', subject: slug, ...documents, details, actor });
    return view;
  }
}

function isSame(one: JsonObject | null, other: JsonObject): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
