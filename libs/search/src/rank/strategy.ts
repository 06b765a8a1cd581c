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
 * The better half by score, then the best tools of the matched skills, filled up with the best others (contract R25):
 * skills choose among what is less sure, and never put the best hits aside. Unclassified tools count as matched: waiting
 * for classification must not hide them.
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
  const best = ranked.slice(0, Math.floor(limit / 2));
  const matched: Scored[] = [];
  for (const tool of ranked) {
    if (matched.length === limit) break;
    if (isMatched(tool)) matched.push(tool);
  }
  const chosen = new Set(best);
  for (const tool of [...matched, ...ranked]) if (chosen.size < limit) chosen.add(tool);
  const isFilledUp = matched.length < limit && matched.length < ranked.length;
  return {
    // Restores the order of the whole ranking.
    chosen: ranked.filter((tool) => chosen.has(tool)),
    strategyUsed: isFilledUp ? 'hierarchical+direct' : 'hierarchical',
  };
}
