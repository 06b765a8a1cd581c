/** The collection and payload of the contract, on every index. */
export const TOOLS_COLLECTION = 'mcp_unified_search';

// A type, not an interface, so that it is a record of values as every payload is.
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

/** What searches filter by; Qdrant wants to know beforehand. */
export const toolFilterFields = {
  source_server_id: 'keyword',
  source_server_name: 'keyword',
  is_external: 'bool',
  skill_ids: 'keyword',
} as const satisfies Partial<Record<keyof ToolPayload, 'keyword' | 'bool'>>;
