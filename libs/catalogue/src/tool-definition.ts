import { isJsonObject, type JsonObject } from '@app/platform';

/** A tool definition of a server after validation, cleaning and size limits. */
export interface DiscoveredTool {
  readonly originalName: string;
  readonly title: string | null;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** The complete object of the server, as MCP clients receive it. */
  readonly definition: JsonObject;
  readonly contentHash: string;
}

export interface StoredTool {
  readonly id: number;
  readonly originalName: string;
  readonly contentHash: string;
}

export interface ToolDiff {
  readonly added: readonly DiscoveredTool[];
  readonly changed: readonly (DiscoveredTool & { readonly id: number })[];
  readonly removed: readonly number[];
}

/** The members we use of a definition; references, not copies. */
export function partsOf(
  definition: JsonObject,
): Pick<DiscoveredTool, 'title' | 'description' | 'inputSchema'> {
  const { title, description, inputSchema } = definition;
  return {
    title: typeof title === 'string' ? title : null,
    description: typeof description === 'string' ? description : '',
    inputSchema: isJsonObject(inputSchema) ? inputSchema : { type: 'object' },
  };
}
