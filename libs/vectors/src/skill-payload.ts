/** Where the skills are, beside the tools (`mcp_unified_search`). */
export const SKILLS_COLLECTION = 'mcp_skills';

// A type, not an interface, so that it is a record of values as every payload is.
export type SkillPayload = {
  readonly skill_id: string;
  readonly name: string;
  readonly description: string;
  readonly tool_count: number;
};

export const skillFilterFields = {
  skill_id: 'keyword',
} as const satisfies Partial<Record<keyof SkillPayload, 'keyword' | 'bool'>>;
