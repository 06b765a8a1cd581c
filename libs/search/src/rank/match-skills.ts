import type { MappedSkill } from '@app/classification';
import { dot } from '@app/vectors';
import type { Scored } from './ranking.js';

export interface MatchedSkill {
  readonly id: string;
  readonly name: string;
  /** 0…1. */
  readonly score: number;
}

/** Maximum score of a skill by its nearness to the query alone, without a matching tool. */
const NEARNESS_SHARE = 0.6;

/**
 * Scores a skill by its best tool or, slightly lower, by its nearness to the query. Scoring by tools keeps both
 * skills when a query lies between two.
 */
export function matchSkills(
  skills: readonly MappedSkill[],
  query: Float32Array | undefined,
  /** Best first. */
  ranked: readonly Scored[],
  threshold: number,
  skillsOf: (id: number) => readonly string[],
): MatchedSkill[] {
  const best = new Map<string, number>();
  for (const { id, score } of ranked) {
    if (score < threshold) break;
    for (const skill of skillsOf(id)) if (!best.has(skill)) best.set(skill, score);
  }
  const nearness = relativeNearness(skills, query);
  return skills
    .map(({ id, name }, i) => ({
      id,
      name,
      score: Math.max(best.get(id) ?? 0, NEARNESS_SHARE * (nearness[i] ?? 0)),
    }))
    .filter(({ score }) => score > 0 && score >= threshold)
    .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1));
}

/** 1 for the nearest skill, 0 for the mean: absolute cosines of short texts mean little. */
function relativeNearness(
  skills: readonly MappedSkill[],
  query: Float32Array | undefined,
): number[] {
  if (!query || skills.length < 2) return [];
  const cosines = skills.map(({ vector }) => (vector ? dot(query, vector) : 0));
  const mean = cosines.reduce((sum, cosine) => sum + cosine, 0) / cosines.length;
  const highest = Math.max(...cosines);
  return cosines.map((cosine) =>
    highest > mean ? Math.max(0, (cosine - mean) / (highest - mean)) : 0,
  );
}
