import type { Scored } from './ranking.js';

export const strategies = ['hierarchical', 'direct'] as const;
export type Strategy = (typeof strategies)[number];
/** `hierarchical+direct`: the matched skills had too few tools, so direct search supplied the rest. */
export type StrategyUsed = Strategy | 'hierarchical+direct';

export interface Choice {
  readonly chosen: readonly Scored[];
  readonly strategyUsed: StrategyUsed;
}

/**
 * The best tools of the matched skills, filled up with the best others (contract R25). Unclassified tools count as
 * matched: waiting for classification must not hide them.
 */
export function choose(
  ranked: readonly Scored[],
  limit: number,
  matchedSkills: ReadonlySet<string>,
  skillsOf: (id: number) => readonly string[],
): Choice {
  if (matchedSkills.size === 0) return { chosen: ranked.slice(0, limit), strategyUsed: 'direct' };
  const isMatched = ({ id }: Scored): boolean => {
    const skills = skillsOf(id);
    return skills.length === 0 || skills.some((skill) => matchedSkills.has(skill));
  };
  const matched = ranked.filter(isMatched).slice(0, limit);
  if (matched.length === limit || matched.length === ranked.length) {
    return { chosen: matched, strategyUsed: 'hierarchical' };
  }
  const taken = new Set(matched);
  const rest = ranked.filter((tool) => !taken.has(tool)).slice(0, limit - matched.length);
  const filled = new Set([...matched, ...rest]);
  // Restores the order of the whole ranking.
  return { chosen: ranked.filter((tool) => filled.has(tool)), strategyUsed: 'hierarchical+direct' };
}
