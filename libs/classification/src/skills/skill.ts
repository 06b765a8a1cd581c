/** One entry of the taxonomy. */
export interface Skill {
  /** Stable identifier such as `version_control`. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** Example sentences that describe tools of this skill. */
  readonly prototypes: readonly string[];
  /** An inactive skill keeps its history but is assigned to no tool. */
  readonly isActive: boolean;
}

/** The text of a skill for embedding models. */
export function textOfSkill({ name, description }: Pick<Skill, 'name' | 'description'>): string {
  return `${name}. ${description}`;
}

export interface Assignment {
  readonly skillId: string;
  /** 0…1. */
  readonly confidence: number;
}

/** Results with a lower confidence are dropped (contract BR-004). */
export const MIN_CONFIDENCE = 0.5;
export const MAX_SKILLS_PER_TOOL = 3;

/** Filters the answer of a classifier: known skills above the minimum confidence, highest first. */
export function keptAssignments(
  answered: readonly Assignment[],
  active: ReadonlySet<string>,
): Assignment[] {
  return bestOf(answered, active, (confidence) => confidence >= MIN_CONFIDENCE);
}

/** The likeliest skills of a tool for which none is sure enough, highest first. */
export function unsureAssignments(
  answered: readonly Assignment[],
  active: ReadonlySet<string>,
): Assignment[] {
  if (keptAssignments(answered, active).length > 0) return [];
  return bestOf(answered, active, (confidence) => confidence > 0);
}

function bestOf(
  answered: readonly Assignment[],
  active: ReadonlySet<string>,
  isWanted: (confidence: number) => boolean,
): Assignment[] {
  const best = new Map<string, number>();
  for (const { skillId, confidence } of answered) {
    if (!active.has(skillId) || !isWanted(confidence)) continue;
    best.set(skillId, Math.max(best.get(skillId) ?? 0, Math.min(confidence, 1)));
  }
  return [...best]
    .map(([skillId, confidence]) => ({ skillId, confidence }))
    .sort((a, b) => b.confidence - a.confidence || (a.skillId < b.skillId ? -1 : 1))
    .slice(0, MAX_SKILLS_PER_TOOL);
}

export const SKILL_ID = /^[a-z][a-z0-9_]{0,63}$/;

/** `Knowledge, memory & RAG` is `knowledge_memory_rag`. */
export function skillIdOf(name: string): string {
  const words = name
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  const id = (words ?? []).join('_').slice(0, 64).replace(/_$/, '');
  return SKILL_ID.test(id) ? id : `skill_${id}`.slice(0, 64);
}
