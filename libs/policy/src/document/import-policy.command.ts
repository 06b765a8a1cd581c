import { Command, CommandBus, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Actor } from '@app/access';
import { Catalogue } from '@app/catalogue';
import { AppError, DatabaseUnavailable } from '@app/platform';
import { isDeepStrictEqual } from 'node:util';
import { type GivenGrant, GiveGrant, isSame } from '../grants/give-grant.command.js';
import { subjectKey } from '../grants/grant.js';
import { WithdrawGrant } from '../grants/withdraw-grant.command.js';
import { RemoveOverride } from '../overrides/remove-override.command.js';
import { isFor, isOfferedAs, SetOverride } from '../overrides/set-override.command.js';
import type { GivenOverride } from '../overrides/set-override.command.js';
import { Policy } from '../policy.js';
import { NamedServerNotFound } from '../policy.errors.js';
import { DeleteView } from '../views/delete-view.command.js';
import { SaveView } from '../views/save-view.command.js';
import { DEFAULT_VIEW } from '../views/view.js';
import { givenDocument, viewDocument } from '../views/view-document.js';
import { overriddenName } from './export-policy.query.js';
import {
  type DocumentOverrides,
  type DocumentView,
  type PolicyDocument,
  toolParts,
} from './policy-document.js';

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

@CommandHandler(ImportPolicy)
export class ImportPolicyHandler implements ICommandHandler<ImportPolicy> {
  constructor(
    private readonly commands: CommandBus,
    private readonly policy: Policy,
    private readonly catalogue: Catalogue,
  ) {}

  async execute({ document, isPruning, actor }: ImportPolicy): Promise<PolicyOutcome> {
    const run = new Run();
    const usable: [string, DocumentView][] = [];
    for (const [slug, entry] of document.views) {
      const isSaved = await run.attempt(['views', slug], () => this.saveView(slug, entry, actor));
      if (isSaved) usable.push([slug, entry]);
    }
    // First, because what goes may have a name that something else gets.
    if (isPruning) await this.prune(document, new Map(usable), run, actor);
    await this.setOverrides(document.overrides, undefined, run, actor);
    for (const [slug, { overrides }] of usable) {
      await this.setOverrides(overrides, slug, run, actor);
    }
    // Last: a new view is used with its overrides.
    for (const [slug, { grants }] of usable) {
      for (const grant of grants) {
        const place = ['views', slug, 'grants', subjectKey(grant)];
        await run.attempt(place, () => this.giveGrant({ ...grant, view: slug }, actor));
      }
    }
    return run;
  }

  private async saveView(slug: string, { view }: DocumentView, actor: Actor): Promise<boolean> {
    const before = this.policy.current.viewsBySlug.get(slug);
    const shown = before && viewDocument(before, this.catalogue.current.servers);
    if (isDeepStrictEqual(shown, givenDocument(view))) return false;
    await this.commands.execute(new SaveView(slug, view, 'apply', actor));
    return true;
  }

  private async giveGrant(given: GivenGrant, actor: Actor): Promise<boolean> {
    const view = this.policy.current.viewsBySlug.get(given.view);
    const before = view && this.policy.current.grantsOn(view.id).get(subjectKey(given));
    if (before && isSame(before, given)) return false;
    await this.commands.execute(new GiveGrant(given, actor));
    return true;
  }

  private async setOverrides(
    overrides: DocumentOverrides,
    slug: string | undefined,
    run: Run,
    actor: Actor,
  ): Promise<void> {
    for (const [tool, given] of overrides) {
      const place = [...overridesPlace(slug), tool];
      await run.attempt(place, () => this.setOverride(tool, slug, given, actor));
    }
  }

  /** Compared without the definition that it was written for: a change of that stays visible. */
  private async setOverride(
    tool: string,
    slug: string | undefined,
    given: GivenOverride,
    actor: Actor,
  ): Promise<boolean> {
    const { server: serverName, name } = toolParts(tool);
    const server = this.catalogue.current.serversByName.get(serverName);
    if (!server) throw new NamedServerNotFound(serverName);
    const target = { serverId: server.id, tool: name };
    const { overrides, viewsBySlug } = this.policy.current;
    const viewId = slug === undefined ? null : viewsBySlug.get(slug)?.id;
    const before = overrides.find((one) => viewId !== undefined && isFor(one, target, viewId));
    if (before && isOfferedAs(before, given)) return false;
    await this.commands.execute(new SetOverride(target, slug, given, actor));
    return true;
  }

  private async prune(
    { views, overrides }: PolicyDocument,
    usable: ReadonlyMap<string, DocumentView>,
    run: Run,
    actor: Actor,
  ): Promise<void> {
    const { viewsById, grantsById, overrides: set } = this.policy.current;
    for (const { slug } of viewsById.values()) {
      if (slug === DEFAULT_VIEW.slug || views.has(slug)) continue;
      await run.remove(['views', slug], () => this.commands.execute(new DeleteView(slug, actor)));
    }
    for (const grant of grantsById.values()) {
      const slug = viewsById.get(grant.viewId)?.slug ?? '';
      const subject = subjectKey(grant);
      const entry = usable.get(slug);
      if (!entry || entry.grants.some((one) => subjectKey(one) === subject)) continue;
      const withdrawal = new WithdrawGrant(grant.id, actor);
      const place = ['views', slug, 'grants', subject];
      await run.remove(place, () => this.commands.execute(withdrawal));
    }
    for (const override of set) {
      const slug = override.viewId === null ? undefined : viewsById.get(override.viewId)?.slug;
      const kept = slug === undefined ? overrides : usable.get(slug)?.overrides;
      const tool = overriddenName(override, this.catalogue.current.servers);
      if (!kept || kept.has(tool)) continue;
      const removal = new RemoveOverride(override, slug, actor);
      await run.remove([...overridesPlace(slug), tool], () => this.commands.execute(removal));
    }
  }
}

function overridesPlace(slug: string | undefined): readonly string[] {
  return slug === undefined ? ['overrides'] : ['views', slug, 'overrides'];
}

class Run implements PolicyOutcome {
  readonly changed: string[] = [];
  readonly removed: string[] = [];
  readonly refused: { place: string; reason: string }[] = [];
  unchanged = 0;

  /** Whether it is now as the document says; `work` resolves with whether it changed something. */
  async attempt(place: readonly string[], work: () => Promise<boolean>): Promise<boolean> {
    try {
      if (await work()) this.changed.push(place.join('.'));
      else this.unchanged += 1;
      return true;
    } catch (error) {
      if (!(error instanceof AppError) || error instanceof DatabaseUnavailable) throw error;
      const issues = error.issues ?? [{ loc: ['body'], msg: error.message }];
      for (const { loc, msg } of issues) {
        this.refused.push({ place: [...place, ...loc.slice(1)].join('.'), reason: msg });
      }
      return false;
    }
  }

  async remove(place: readonly string[], work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.removed.push(place.join('.'));
    } catch (error) {
      // Another user has removed it.
      if (!(error instanceof AppError) || error.kind !== 'not-found') throw error;
    }
  }
}
