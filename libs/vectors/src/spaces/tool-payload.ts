/** Collection and payload are part of the contract. */
export const TOOLS_COLLECTION = 'mcp_unified_search';

// A type, because an interface is not assignable to VectorPayload.
export type ToolPayload = {
  readonly name: string;
  readonly original_name: string;
  readonly source_server_id: string;
  readonly source_server_name: string;
  readonly is_external: boolean;
  readonly is_classified: boolean;
  readonly skill_ids: readonly string[];
  readonly primary_skill_id: string | null;
};

/** Fields that searches, ours and those of others on this collection, filter by; Qdrant needs an index for each. */
export const toolFilterFields = {
  original_name: 'keyword',
  source_server_id: 'keyword',
  source_server_name: 'keyword',
  is_external: 'bool',
  is_classified: 'bool',
  skill_ids: 'keyword',
} as const satisfies Partial<Record<keyof ToolPayload, 'keyword' | 'bool'>>;
