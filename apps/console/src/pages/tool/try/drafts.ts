import type { JsonObject } from '../../../mcp/json.js';

/** Arguments that were written in this tab of the browser, by tool: going elsewhere and back keeps them. */
const drafts = new Map<string, JsonObject>();

export function draftOf(toolId: string): JsonObject {
  return drafts.get(toolId) ?? {};
}

export function keepDraft(toolId: string, args: JsonObject): void {
  drafts.set(toolId, args);
}
