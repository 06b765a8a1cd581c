import { isJsonObject, type JsonObject } from '@app/platform';
import type { Withheld } from './withheld.js';

/** A tool definition of a server after validation, cleaning and size limits. */
export interface DiscoveredTool {
  readonly originalName: string;
  readonly title: string | null;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** The complete object of the server, as MCP clients receive it. */
  readonly definition: JsonObject;
  /** Changes with any change of the definition. */
  readonly contentHash: string;
  /** Changes with what a person approves: name, texts, schemas and annotations as the server listed them. */
  readonly pinHash: string;
  /** Hidden characters were removed from its texts. */
  readonly wasCleaned: boolean;
}

export interface StoredTool {
  readonly id: number;
  readonly originalName: string;
  readonly contentHash: string;
  /** Null for a row of a version without pins. */
  readonly pinHash: string | null;
  readonly withheld: Withheld | null;
}

/** A tool as it is to be written. */
export interface ToolToWrite extends DiscoveredTool {
  readonly withheld: Withheld | null;
}

export interface ToolDiff {
  readonly added: readonly ToolToWrite[];
  readonly changed: readonly (ToolToWrite & { readonly id: number })[];
  readonly removed: readonly number[];
  /** Rows that are withheld, or no longer, with the definition that they have. */
  readonly marked: readonly { readonly id: number; readonly withheld: Withheld | null }[];
  /** Rows of a version without pins. */
  readonly pinned: readonly { readonly id: number; readonly pinHash: string }[];
}

/** The members we use of a definition; references, not copies. */
export function partsOf(
  definition: JsonObject,
): Pick<DiscoveredTool, 'title' | 'description' | 'inputSchema'> {
  const { description, inputSchema } = definition;
  return {
    title: titleOf(definition),
    description: typeof description === 'string' ? description : '',
    inputSchema: isJsonObject(inputSchema) ? inputSchema : { type: 'object' },
  };
}

/** Servers of older revisions say it in the annotations. */
function titleOf({ title, annotations }: JsonObject): string | null {
  if (typeof title === 'string') return title;
  const annotated = isJsonObject(annotations) ? annotations['title'] : undefined;
  return typeof annotated === 'string' ? annotated : null;
}
