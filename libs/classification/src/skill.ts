/** One entry of the taxonomy. */
export interface Skill {
  /** `version_control`; never changes. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** Sentences such as a tool of this skill would say of itself. */
  readonly prototypes: readonly string[];
  /** An inactive skill keeps its history but gets no tools. */
  readonly isActive: boolean;
}

/** What an embedding model reads of a skill. */
export function textOfSkill({ name, description }: Pick<Skill, 'name' | 'description'>): string {
  return `${name}. ${description}`;
}

export interface Assignment {
  readonly skillId: string;
  /** 0…1. */
  readonly confidence: number;
}

/** Less sure than this is not kept (BR-004). */
export const MIN_CONFIDENCE = 0.5;
export const MAX_SKILLS_PER_TOOL = 3;

/** What is kept of a classifier's answer: known skills, sure enough, the surest first. */
export function keptAssignments(
  answered: readonly Assignment[],
  active: ReadonlySet<string>,
): Assignment[] {
  const best = new Map<string, number>();
  for (const { skillId, confidence } of answered) {
    if (!active.has(skillId) || !(confidence >= MIN_CONFIDENCE)) continue;
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
