/** Part of the contract, as is the payload. */
export const SKILLS_COLLECTION = 'mcp_skills';

// A type, because an interface is not assignable to VectorPayload.
export type SkillPayload = {
  readonly skill_id: string;
  readonly name: string;
  readonly description: string;
  readonly tool_count: number;
};

export const skillFilterFields = {
  skill_id: 'keyword',
} as const satisfies Partial<Record<keyof SkillPayload, 'keyword' | 'bool'>>;
