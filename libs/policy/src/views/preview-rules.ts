import type { CatalogueServer, CatalogueTool } from '@app/catalogue';
import { isServing } from '@app/registry';
import type { Sliced } from '@app/platform';
import type { Offer } from './offer.js';

/** `held`: selected, and not offered until its definition is approved or its server is connected. */
export const ruledStates = ['offered', 'held', 'left_out'] as const;
export type RuledState = (typeof ruledStates)[number];

export interface RuledTool {
  readonly tool: CatalogueTool;
  readonly state: RuledState;
  /** Position of the rule that excludes it, or else of the first that includes it; null if none matches. */
  readonly rule: number | null;
  readonly reason: 'rule' | 'no_rule' | 'level' | 'withheld' | 'server';
}

export interface RuleEffectCount {
  /** Tools that it matches by itself. */
  matches: number;
  /** By how many tools the selection differs from that of the rules before it; exclusions take away at the end. */
  adds: number;
}

export interface RulesPreview {
  readonly tools: readonly RuledTool[];
  readonly rules: readonly RuleEffectCount[];
}

/** What rules do to each of the tools. */
export function* previewRules(
  offer: Offer,
  tools: Iterable<CatalogueTool>,
  servers: ReadonlyMap<string, Pick<CatalogueServer, 'status'>>,
): Sliced<RulesPreview> {
  const { rules } = offer.view;
  const matchers = offer.matchers();
  const counts = rules.map((): RuleEffectCount => ({ matches: 0, adds: 0 }));
  const ruled: RuledTool[] = [];
  for (const tool of tools) {
    yield;
    const matching = rules.flatMap((_, at) => (matchers[at]?.(tool) ? [at] : []));
    const included = matching.find((at) => rules[at]?.effect === 'include');
    const excluded = matching.find((at) => rules[at]?.effect === 'exclude');
    for (const at of matching) count(counts[at], 'matches', 1);
    if (included !== undefined) {
      count(counts[included], 'adds', 1);
      if (excluded !== undefined) count(counts[excluded], 'adds', -1);
    }
    const rule = excluded ?? included ?? null;
    ruled.push({ tool, rule, ...stateOf(tool, { offer, rule, servers }) });
  }
  return { tools: ruled, rules: counts };
}

function count(of: RuleEffectCount | undefined, what: keyof RuleEffectCount, by: number): void {
  if (of) of[what] += by;
}

interface Deciding {
  readonly offer: Offer;
  readonly rule: number | null;
  readonly servers: ReadonlyMap<string, Pick<CatalogueServer, 'status'>>;
}

function stateOf(
  tool: CatalogueTool,
  { offer, rule, servers }: Deciding,
): Pick<RuledTool, 'state' | 'reason'> {
  if (rule === null) return { state: 'left_out', reason: 'no_rule' };
  if (offer.view.rules[rule]?.effect === 'exclude') return { state: 'left_out', reason: 'rule' };
  if (offer.isReadOnly && !offer.isOfferedReadOnly(tool)) {
    return { state: 'left_out', reason: 'level' };
  }
  if (tool.withheld !== null) return { state: 'held', reason: 'withheld' };
  const server = servers.get(tool.serverId);
  if (!server || !isServing(server.status)) return { state: 'held', reason: 'server' };
  return { state: 'offered', reason: 'rule' };
}
