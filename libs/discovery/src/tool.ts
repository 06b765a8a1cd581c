import { isCleanText, type JsonObject } from '@app/platform';
import { createHash } from 'node:crypto';
import { z } from 'zod';

/** A tool as its server describes it, read and bounded. */
export interface DiscoveredTool {
  readonly originalName: string;
  readonly title: string | null;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** The server's whole object, unchanged: this is what MCP clients get. */
  readonly definition: JsonObject;
  readonly contentHash: string;
}

export interface RefusedTool {
  readonly name: string;
  readonly reason: string;
}

const MAX_NAME_CHARS = 255;
const MAX_DEFINITION_CHARS = 262_144;

const definitionSchema = z.looseObject({
  name: z
    .string()
    .min(1, 'it has no name')
    .max(MAX_NAME_CHARS, `its name is longer than ${MAX_NAME_CHARS} characters`),
  title: z.string().optional(),
  description: z.string().optional(),
  inputSchema: z.looseObject({}).optional(),
});

/** Reads what a server lists; one bad tool never costs the others. Of two with one name the later counts (BR-003). */
export function readTools(listed: readonly JsonObject[]): {
  tools: DiscoveredTool[];
  refused: RefusedTool[];
} {
  const tools = new Map<string, DiscoveredTool>();
  const refused: RefusedTool[] = [];
  for (const definition of listed) {
    const read = readTool(definition);
    if ('reason' in read) refused.push(read);
    else tools.set(read.originalName, read);
  }
  return { tools: [...tools.values()], refused };
}

function readTool(definition: JsonObject): DiscoveredTool | RefusedTool {
  const parsed = definitionSchema.safeParse(definition);
  if (!parsed.success) {
    return refusal(definition, parsed.error.issues[0]?.message ?? 'it is no tool definition');
  }
  const text = JSON.stringify(definition);
  if (text.length > MAX_DEFINITION_CHARS) {
    return refusal(definition, `its definition is longer than ${MAX_DEFINITION_CHARS} characters`);
  }
  // Escapes of NUL and lone surrogates are what JSON.stringify leaves of them.
  if (/\\u0000|\\ud[89a-f]/i.test(text) && !isCleanText(textOf(definition))) {
    return refusal(definition, 'it contains NUL or unpaired surrogate characters');
  }
  const { name, title, description, inputSchema } = parsed.data;
  return {
    originalName: name,
    title: title ?? null,
    description: description ?? '',
    inputSchema: (inputSchema ?? { type: 'object' }) as JsonObject,
    definition,
    contentHash: createHash('sha256').update(text).digest('hex'),
  };
}

function refusal(definition: JsonObject, reason: string): RefusedTool {
  const name = typeof definition['name'] === 'string' ? definition['name'] : '';
  return { name: name.slice(0, 100).toWellFormed().replaceAll('\0', ''), reason };
}

/** Every string in a value, keys included. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return '';
  return Object.entries(value)
    .map(([key, item]) => key + textOf(item))
    .join('');
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

/** What has to be written so that the rows say what the server says. Unchanged tools are in none of the three. */
export function diffTools(
  stored: readonly StoredTool[],
  discovered: readonly DiscoveredTool[],
): ToolDiff {
  const before = new Map(stored.map((tool) => [tool.originalName, tool]));
  const now = new Set(discovered.map((tool) => tool.originalName));
  return {
    added: discovered.filter((tool) => !before.has(tool.originalName)),
    changed: discovered.flatMap((tool) => {
      const known = before.get(tool.originalName);
      return known && known.contentHash !== tool.contentHash ? [{ ...tool, id: known.id }] : [];
    }),
    removed: stored.filter((tool) => !now.has(tool.originalName)).map((tool) => tool.id),
  };
}
