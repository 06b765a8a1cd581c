/** The view of `/mcp`, `/mcp/search`, `/mcp/servers/{name}` and the REST API. It cannot be deleted. */
export const DEFAULT_VIEW = {
  id: '00000000-0000-4000-8000-000000000001',
  slug: 'default',
} as const;
export const VIEW_SLUG = /^[a-z0-9][a-z0-9-]{0,62}$/;
export const MAX_VIEWS = 500;
export const MAX_RULES = 200;

export const ruleEffects = ['include', 'exclude'] as const;
export const ruleKinds = ['tool', 'prompt', 'resource', 'any'] as const;
export const ruleAnnotations = ['read_only', 'destructive', 'idempotent', 'open_world'] as const;
export type RuleEffect = (typeof ruleEffects)[number];
export type RuleKind = (typeof ruleKinds)[number];
export type RuleAnnotation = (typeof ruleAnnotations)[number];
/** Templates are resources. */
export type OfferKind = Exclude<RuleKind, 'any'>;

/** Matches what meets all of its conditions; null stands for any. */
export interface ViewRule {
  readonly effect: RuleEffect;
  readonly kind: RuleKind;
  readonly serverId: string | null;
  /** Of the name of a tool or prompt at its server, or of a URI; `*` stands for any text. */
  readonly namePattern: string | null;
  /** Only tools have skills. */
  readonly skillId: string | null;
  /** Only tools have annotations. */
  readonly annotation: RuleAnnotation | null;
}

/**
 * What is offered to clients, and under which names. An item is offered if a rule includes it and none excludes it:
 * the order of the rules does not matter, and a view without rules offers nothing.
 */
export interface View {
  readonly id: string;
  readonly slug: string;
  readonly title: string | null;
  readonly description: string | null;
  readonly rules: readonly ViewRule[];
  /** Results of tools beyond it are shortened; null for no limit. */
  readonly budgetTokens: number | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}
