import type { CatalogueServer } from '@app/catalogue';
import type { JsonObject } from '@app/platform';
import type { RuleAnnotation, RuleEffect, RuleKind, View, ViewRule } from './view.js';

/** A rule as a person writes it, with the name of the server. */
export interface GivenRule {
  readonly effect?: RuleEffect | null;
  readonly kind?: RuleKind | null;
  readonly server?: string | null;
  readonly name?: string | null;
  readonly skill?: string | null;
  readonly annotation?: RuleAnnotation | null;
}

export interface GivenView {
  readonly title?: string | null;
  readonly description?: string | null;
  readonly budget_tokens?: number | null;
  readonly rules: readonly GivenRule[];
}

type Servers = ReadonlyMap<string, Pick<CatalogueServer, 'name'>>;

/** A view as a person writes it, in the REST API and in files: without what is not set. */
export function viewDocument(view: View, servers: Servers): JsonObject {
  const { title, description, budgetTokens, rules } = view;
  return {
    ...(title !== null && { title }),
    ...(description !== null && { description }),
    ...(budgetTokens !== null && { budget_tokens: budgetTokens }),
    rules: rules.map((rule) => ruleDocument(rule, servers)),
  };
}

export function ruleDocument(rule: ViewRule, servers: Servers): JsonObject {
  const { effect, kind, serverId, namePattern, skillId, annotation } = rule;
  return {
    effect,
    ...(kind !== 'any' && { kind }),
    ...(serverId !== null && { server: servers.get(serverId)?.name ?? serverId }),
    ...(namePattern !== null && { name: namePattern }),
    ...(skillId !== null && { skill: skillId }),
    ...(annotation !== null && { annotation }),
  };
}
