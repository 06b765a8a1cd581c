import type { CatalogueSnapshot, CatalogueTool } from '@app/catalogue';
import { applyOverride } from '../overrides/apply-override.js';
import type { OverridesByTool } from '../overrides/tool-override.js';
import { hasAnnotation } from './tool-annotations.js';
import { patternOf } from './name-pattern.js';
import { OfferedCatalogue } from './offered-catalogue.js';
import type { OfferKind, View, ViewRule } from './view.js';

const READ_ONLY = 'read-only';
const NO_VIEW = {
  title: null,
  description: null,
  budgetTokens: null,
  createdAt: new Date(0),
  updatedAt: new Date(0),
} as const;

/**
 * What a view offers at one level: the one object that lists, searches, calls, queries, prompts and resources ask. It
 * gives a catalogue that holds only what is offered, so that everything that reads a catalogue obeys.
 */
export class Offer {
  readonly key: string;
  /** Equal digests offer the same. */
  readonly digest: string;
  /** Everything is offered as its servers define it. */
  readonly isWhole: boolean;
  /** Nothing is left out; names and descriptions may differ. */
  readonly isEverything: boolean;
  /** Results of some of its tools may be shortened. */
  readonly hasBudget: boolean;
  private readonly includes: readonly ViewRule[];
  private readonly excludes: readonly ViewRule[];
  private readonly catalogues = new WeakMap<CatalogueSnapshot, CatalogueSnapshot>();

  constructor(
    readonly view: View,
    readonly isReadOnly: boolean,
    private readonly overrides: OverridesByTool,
    overridesDigest: string,
  ) {
    this.key = Offer.keyOf(view.id, isReadOnly);
    this.includes = view.rules.filter(({ effect }) => effect === 'include');
    this.excludes = view.rules.filter(({ effect }) => effect === 'exclude');
    this.isEverything =
      !isReadOnly &&
      this.excludes.length === 0 &&
      this.includes.some((rule) => rule.kind === 'any' && isUnconditional(rule));
    this.isWhole = this.isEverything && overrides.size === 0;
    const { slug, rules, budgetTokens } = view;
    this.hasBudget =
      budgetTokens !== null ||
      [...overrides.values()].some((ofServer) =>
        [...ofServer.values()].some((override) => override.budgetTokens !== null),
      );
    this.digest = JSON.stringify([slug, rules, budgetTokens, isReadOnly, overridesDigest]);
  }

  static keyOf(viewId: string, isReadOnly: boolean): string {
    return isReadOnly ? `${viewId}:${READ_ONLY}` : viewId;
  }

  /** The servers and tools of the catalogue that are offered, as they are offered. */
  catalogue(whole: CatalogueSnapshot): CatalogueSnapshot {
    if (this.isWhole) return whole;
    let offered = this.catalogues.get(whole);
    if (!offered) this.catalogues.set(whole, (offered = this.select(whole)));
    return offered;
  }

  /** Whether every tool, prompt and resource of the server is offered as the server defines it. */
  isWholeServer(serverId: string): boolean {
    if (this.isWhole) return true;
    if (this.isReadOnly || this.excludes.some((rule) => isOf(rule, serverId))) return false;
    if (this.overrides.has(serverId)) return false;
    return this.includes.some(
      (rule) => rule.kind === 'any' && isOf(rule, serverId) && isWithoutCondition(rule),
    );
  }

  /** Of a prompt, a resource or a template that a server lists. */
  offers(kind: Exclude<OfferKind, 'tool'>, serverId: string, name: string): boolean {
    return this.isIncluded(kind, serverId, name) && !this.isExcluded(kind, serverId, name);
  }

  /** Of a URI that a client names; that a template of the server is offered cannot undo it. */
  excludesUri(serverId: string, uri: string): boolean {
    return this.isExcluded('resource', serverId, uri);
  }

  /** What each rule of the view matches by itself, in their order; compiled once for many tools. */
  matchers(): readonly ((tool: CatalogueTool) => boolean)[] {
    return this.view.rules.map((rule) => {
      if (rule.kind !== 'tool' && rule.kind !== 'any') return () => false;
      const meets = compiled(rule);
      return (tool) => isOf(rule, tool.serverId) && meets(tool, this.overridden(tool));
    });
  }

  /** With the annotations that a person gave it. */
  isOfferedReadOnly(tool: CatalogueTool): boolean {
    return hasAnnotation(this.overridden(tool), 'read_only');
  }

  /** The name under which it is or would be offered. */
  nameOf(tool: CatalogueTool): string {
    return this.overridden(tool).name;
  }

  /** The rule that excludes a tool, or else one that includes it; undefined if no rule names it. */
  ruleFor(tool: CatalogueTool): ViewRule | undefined {
    const shown = this.overridden(tool);
    const matches = (rule: ViewRule): boolean =>
      isOf(rule, tool.serverId) && fits(rule, tool, shown);
    return this.excludes.find(matches) ?? this.includes.find(matches);
  }

  private isIncluded(kind: OfferKind, serverId: string, name: string): boolean {
    return this.includes.some((rule) => matchesItem(rule, kind, serverId, name));
  }

  private isExcluded(kind: OfferKind, serverId: string, name: string): boolean {
    return this.excludes.some((rule) => matchesItem(rule, kind, serverId, name));
  }

  private select(whole: CatalogueSnapshot): CatalogueSnapshot {
    const offered = this.offeredOf(whole.tools);
    const withheld = this.offeredOf(whole.withheld.tools);
    return new OfferedCatalogue(whole, offered, withheld, (serverId) => this.mayOffer(serverId));
  }

  /** Ordered by name, as they are. */
  private offeredOf(all: readonly CatalogueTool[]): readonly CatalogueTool[] {
    const tools: CatalogueTool[] = [];
    const choices = new Map<string, Choice>();
    let isReordered = false;
    let serverId: string | undefined;
    let choice: Choice = OFFERS_NOTHING;
    for (const tool of all) {
      // Own tools are part of the service; what they reach is offered by rules.
      if (!tool.isExternal) {
        tools.push(tool);
        continue;
      }
      // Tools of a server follow each other.
      if (tool.serverId !== serverId) {
        ({ serverId } = tool);
        const known = choices.get(serverId);
        choice = known ?? this.choiceFor(serverId);
        if (!known) choices.set(serverId, choice);
      }
      const shown = choice(tool);
      if (!shown) continue;
      if (shown.name !== tool.name) isReordered = true;
      tools.push(shown);
    }
    return isReordered ? tools.toSorted((a, b) => (a.name < b.name ? -1 : 1)) : tools;
  }

  /** Decides for a server once what does not depend on the tool. */
  private choiceFor(serverId: string): Choice {
    const ofServer = (rule: ViewRule): boolean =>
      isOf(rule, serverId) && (rule.kind === 'tool' || rule.kind === 'any');
    const includes = this.includes.filter(ofServer);
    const excludes = this.excludes.filter(ofServer);
    if (includes.length === 0 || excludes.some(isWithoutCondition)) return OFFERS_NOTHING;
    const overrides = this.overrides.get(serverId);
    const shownAs = (tool: CatalogueTool): CatalogueTool => {
      const override = overrides?.get(tool.originalName);
      return override ? applyOverride(tool, override) : tool;
    };
    const isAll = includes.some(isWithoutCondition);
    if (isAll && excludes.length === 0 && !this.isReadOnly) return shownAs;
    const included = includes.map(compiled);
    const excluded = excludes.map(compiled);
    const { isReadOnly } = this;
    return (tool) => {
      const shown = overrides ? shownAs(tool) : tool;
      if (isReadOnly && !hasAnnotation(shown, 'read_only')) return undefined;
      if (!isAll && !meetsOne(included, tool, shown)) return undefined;
      return meetsOne(excluded, tool, shown) ? undefined : shown;
    };
  }

  private overridden(tool: CatalogueTool): CatalogueTool {
    if (this.overrides.size === 0) return tool;
    const override = this.overrides.get(tool.serverId)?.get(tool.originalName);
    return override ? applyOverride(tool, override) : tool;
  }

  /** Whether something of the server can be offered, so that clients may know of it. */
  private mayOffer(serverId: string): boolean {
    if (
      this.excludes.some(
        (rule) => rule.kind === 'any' && isOf(rule, serverId) && isWithoutCondition(rule),
      )
    )
      return false;
    return this.includes.some(
      (rule) => isOf(rule, serverId) && rule.skillId === null && rule.annotation === null,
    );
  }
}

function isUnconditional(rule: ViewRule): boolean {
  return rule.serverId === null && isWithoutCondition(rule);
}

function isWithoutCondition({ namePattern, skillId, annotation }: ViewRule): boolean {
  return namePattern === null && skillId === null && annotation === null;
}

function isOf(rule: ViewRule, serverId: string): boolean {
  return rule.serverId === null || rule.serverId === serverId;
}

/** A tool of one server as it is offered; undefined for one that is not. */
type Choice = (tool: CatalogueTool) => CatalogueTool | undefined;
const OFFERS_NOTHING: Choice = () => undefined;

/** `shown`: with the annotations that a person gave it. Names are those at the server. */
type Condition = (tool: CatalogueTool, shown: CatalogueTool) => boolean;

function fits(rule: ViewRule, tool: CatalogueTool, shown: CatalogueTool): boolean {
  if (rule.kind !== 'tool' && rule.kind !== 'any') return false;
  return compiled(rule)(tool, shown);
}

/** The conditions of a rule that is about tools. */
function compiled({ namePattern, skillId, annotation }: ViewRule): Condition {
  const isNamed = namePattern === null ? undefined : patternOf(namePattern);
  if (isNamed && skillId === null && annotation === null) {
    return (tool) => isNamed(tool.originalName);
  }
  return (tool, shown) =>
    (!isNamed || isNamed(tool.originalName)) &&
    (skillId === null || tool.skillIds.includes(skillId)) &&
    (annotation === null || hasAnnotation(shown, annotation));
}

function meetsOne(
  conditions: readonly Condition[],
  tool: CatalogueTool,
  shown: CatalogueTool,
): boolean {
  for (const isMet of conditions) if (isMet(tool, shown)) return true;
  return false;
}

function matchesItem(rule: ViewRule, kind: OfferKind, serverId: string, name: string): boolean {
  if (rule.kind !== kind && rule.kind !== 'any') return false;
  if (!isOf(rule, serverId) || rule.skillId !== null || rule.annotation !== null) return false;
  return rule.namePattern === null || patternOf(rule.namePattern)(name);
}

const ANYTHING: ViewRule = {
  effect: 'include',
  kind: 'any',
  serverId: null,
  namePattern: null,
  skillId: null,
  annotation: null,
};

/** Every tool as its server defines it, whatever the views say: for admins in the REST API. */
export const EVERYTHING = new Offer(
  { ...NO_VIEW, id: 'everything', slug: 'everything', rules: [ANYTHING] },
  false,
  new Map(),
  '',
);

/** Of a view that was deleted. */
export const NOTHING = new Offer(
  { ...NO_VIEW, id: 'nothing', slug: 'nothing', rules: [] },
  false,
  new Map(),
  '',
);
