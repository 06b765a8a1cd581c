import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Actor } from '@app/access';
import { Catalogue } from '@app/catalogue';
import { AppError, DatabaseUnavailable } from '@app/platform';
import { setImmediate } from 'node:timers/promises';
import { GiveGrant, GiveGrantHandler } from '../grants/give-grant.command.js';
import { subjectKey } from '../grants/grant.js';
import { WithdrawGrant, WithdrawGrantHandler } from '../grants/withdraw-grant.command.js';
import { RemoveOverride, RemoveOverrideHandler } from '../overrides/remove-override.command.js';
import {
  type GivenOverride,
  isOfferedAs,
  SetOverride,
  SetOverrideHandler,
} from '../overrides/set-override.command.js';
import { Policy } from '../policy.js';
import { NamedServerNotFound } from '../policy.errors.js';
import type { PolicyDraft } from '../rows/policy-draft.js';
import { DeleteView, DeleteViewHandler } from '../views/delete-view.command.js';
import { SaveView, SaveViewHandler } from '../views/save-view.command.js';
import { DEFAULT_VIEW } from '../views/view.js';
import { overriddenName } from './export-policy.query.js';
import {
  type DocumentOverrides,
  type DocumentView,
  type PolicyDocument,
  toolParts,
} from './policy-document.js';

/** Parts that are as they should be wait for nothing; other requests are served between so many. */
const PARTS_AT_ONCE = 50;

export interface PolicyOutcome {
  /** Places in the document. */
  readonly changed: readonly string[];
  readonly removed: readonly string[];
  readonly unchanged: number;
  readonly refused: readonly { readonly place: string; readonly reason: string }[];
}

/**
 * Makes views, grants and overrides what a document says. What is equal already is left alone, so that a document can
 * be imported at every start. A part that is refused does not hold up the others.
 */
export class ImportPolicy extends Command<PolicyOutcome> {
  constructor(
    readonly document: PolicyDocument,
    /** Also removes what the document does not have. */
    readonly isPruning: boolean,
    readonly actor: Actor,
  ) {
    super();
  }
}

/** All parts in one transaction, in which the rows are read once. */
@CommandHandler(ImportPolicy)
export class ImportPolicyHandler implements ICommandHandler<ImportPolicy> {
  constructor(
    private readonly policy: Policy,
    private readonly catalogue: Catalogue,
    private readonly views: SaveViewHandler,
    private readonly deletions: DeleteViewHandler,
    private readonly grants: GiveGrantHandler,
    private readonly withdrawals: WithdrawGrantHandler,
    private readonly overrides: SetOverrideHandler,
    private readonly removals: RemoveOverrideHandler,
  ) {}

  execute(command: ImportPolicy): Promise<PolicyOutcome> {
    return this.policy.change((draft) => this.apply(command, draft));
  }

  private async apply(
    { document, isPruning, actor }: ImportPolicy,
    draft: PolicyDraft,
  ): Promise<PolicyOutcome> {
    const run = new Run(draft, actor);
    const usable = new Map<string, DocumentView>();
    for (const [slug, entry] of document.views) {
      const saving = new SaveView(slug, entry.view, 'apply', actor);
      const isSaved = await run.attempt(['views', slug], () => this.views.apply(saving, draft));
      if (isSaved) usable.set(slug, entry);
    }
    // First, because what goes may have a name that something else gets.
    if (isPruning) await this.prune(document, usable, run);
    await this.setOverrides(document.overrides, undefined, run);
    for (const [slug, { overrides }] of usable) await this.setOverrides(overrides, slug, run);
    for (const [slug, { grants }] of usable) {
      for (const grant of grants) {
        const giving = new GiveGrant({ ...grant, view: slug }, actor);
        const place = ['views', slug, 'grants', subjectKey(grant)];
        await run.attempt(place, () => this.grants.apply(giving, draft));
      }
    }
    return run.outcome;
  }

  private async setOverrides(
    overrides: DocumentOverrides,
    slug: string | undefined,
    run: Run,
  ): Promise<void> {
    for (const [tool, given] of overrides) {
      await run.attempt([...overridesPlace(slug), tool], () =>
        this.setOverride(tool, slug, given, run),
      );
    }
  }

  /** Compared without the definition that it was written for: a change of that stays visible. */
  private async setOverride(
    tool: string,
    slug: string | undefined,
    given: GivenOverride,
    { draft, actor }: Run,
  ): Promise<unknown> {
    const { server: serverName, name } = toolParts(tool);
    const server = this.catalogue.current.serversByName.get(serverName);
    if (!server) throw new NamedServerNotFound(serverName);
    const target = { serverId: server.id, tool: name };
    const viewId = slug === undefined ? null : draft.viewNamed(slug).id;
    const before = draft.overrideOf(target, viewId);
    if (before && isOfferedAs(before, given)) return before;
    return this.overrides.apply(new SetOverride(target, slug, given, actor), draft);
  }

  private async prune(
    { views, overrides }: PolicyDocument,
    usable: ReadonlyMap<string, DocumentView>,
    run: Run,
  ): Promise<void> {
    const { draft, actor } = run;
    for (const { slug } of draft.views) {
      if (slug === DEFAULT_VIEW.slug || views.has(slug)) continue;
      await this.deletions.apply(new DeleteView(slug, actor), draft);
      run.removed(['views', slug]);
    }
    for (const grant of draft.grants) {
      const slug = draft.viewOf(grant.viewId)?.slug ?? '';
      const subject = subjectKey(grant);
      const entry = usable.get(slug);
      if (!entry || entry.grants.some((one) => subjectKey(one) === subject)) continue;
      await this.withdrawals.apply(new WithdrawGrant(grant.id, actor), draft);
      run.removed(['views', slug, 'grants', subject]);
    }
    for (const override of draft.overrides) {
      const slug = override.viewId === null ? undefined : draft.viewOf(override.viewId)?.slug;
      const kept = slug === undefined ? overrides : usable.get(slug)?.overrides;
      const tool = overriddenName(override, this.catalogue.current.servers);
      if (!kept || kept.has(tool)) continue;
      await this.removals.apply(new RemoveOverride(override, slug, actor), draft);
      run.removed([...overridesPlace(slug), tool]);
    }
  }
}

function overridesPlace(slug: string | undefined): readonly string[] {
  return slug === undefined ? ['overrides'] : ['views', slug, 'overrides'];
}

/** What became of the parts so far. */
class Run {
  private readonly changes: string[] = [];
  private readonly removals: string[] = [];
  private readonly refusals: { place: string; reason: string }[] = [];
  private unchanged = 0;
  private parts = 0;

  constructor(
    readonly draft: PolicyDraft,
    readonly actor: Actor,
  ) {}

  get outcome(): PolicyOutcome {
    return {
      changed: this.changes,
      removed: this.removals,
      unchanged: this.unchanged,
      refused: this.refusals,
    };
  }

  /** Whether it is now as the document says. A part is refused before anything of it is written. */
  async attempt(place: readonly string[], work: () => Promise<unknown>): Promise<boolean> {
    const { changes } = this.draft;
    this.parts += 1;
    if (this.parts % PARTS_AT_ONCE === 0) await setImmediate();
    try {
      await work();
      if (this.draft.changes > changes) this.changes.push(place.join('.'));
      else this.unchanged += 1;
      return true;
    } catch (error) {
      if (!(error instanceof AppError) || error instanceof DatabaseUnavailable) throw error;
      const issues = error.issues ?? [{ loc: ['body'], msg: error.message }];
      for (const { loc, msg } of issues) {
        this.refusals.push({ place: [...place, ...loc.slice(1)].join('.'), reason: msg });
      }
      return false;
    }
  }

  removed(place: readonly string[]): void {
    this.removals.push(place.join('.'));
  }
}
