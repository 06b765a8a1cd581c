import { isCleanText, isJsonObject, type JsonObject, type JsonValue } from '@app/platform';
import { createHash } from 'node:crypto';
import { z } from 'zod';

/** A tool as its server describes it, read, cleaned and bounded. */
export interface DiscoveredTool {
  readonly originalName: string;
  readonly title: string | null;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** The server's whole object: this is what MCP clients get. */
  readonly definition: JsonObject;
  readonly contentHash: string;
}

/** What the owner of a server should know about one of its tools. */
export interface ToolRemark {
  readonly name: string;
  readonly text: string;
}

const MAX_NAME_CHARS = 255;
const MAX_DEFINITION_CHARS = 262_144;
/** Deeper schemas are bombs for whoever walks them, and no model reads them. */
const MAX_DEPTH = 64;
const NAMED = 100;

/**
 * Characters that nobody sees but a model reads: controls other than tab and line breaks, direction
 * overrides, zero-width marks, tags. Joiners and Arabic number signs stay, because scripts and emoji
 * are written with them.
 */
const HIDDEN = /(?!\u200c|\u200d|[\t\n\r\u0600-\u0605\u06dd])[\p{Cc}\p{Cf}]/gu;

const definitionSchema = z.looseObject({
  name: z
    .string()
    .min(1, 'it has no name')
    .max(MAX_NAME_CHARS, `its name is longer than ${MAX_NAME_CHARS} characters`)
    .refine((name) => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(name) && name.search(HIDDEN) < 0, {
      message: 'its name has control or hidden characters',
    }),
  title: z.string().nullish(),
  description: z.string().nullish(),
  inputSchema: z.looseObject({}).optional(),
});

/** Reads what a server lists; one bad tool never costs the others. Of two with one name the later counts (BR-003). */
export function readTools(listed: readonly JsonObject[]): {
  tools: DiscoveredTool[];
  remarks: ToolRemark[];
} {
  const tools = new Map<string, DiscoveredTool>();
  const remarks: ToolRemark[] = [];
  for (const definition of listed) {
    const read = readTool(definition);
    if ('refusal' in read) {
      remarks.push({ name: nameOf(definition), text: `is not published: ${read.refusal}` });
      continue;
    }
    const name = read.tool.originalName;
    if (read.wasCleaned) {
      remarks.push({ name, text: 'is published without the hidden characters in its texts' });
    }
    if (tools.has(name)) remarks.push({ name, text: 'is listed more than once; the last counts' });
    tools.set(name, read.tool);
  }
  return { tools: [...tools.values()], remarks };
}

type Reading =
  { readonly refusal: string } | { readonly tool: DiscoveredTool; readonly wasCleaned: boolean };

function readTool(listed: JsonObject): Reading {
  // Before anything that recurses without a limit of its own.
  const problem = problemIn(listed, 0);
  if (problem) return { refusal: problem };
  const text = JSON.stringify(listed);
  if (text.length > MAX_DEFINITION_CHARS) {
    return { refusal: `its definition is longer than ${MAX_DEFINITION_CHARS} characters` };
  }
  const parsed = definitionSchema.safeParse(listed);
  if (!parsed.success) {
    return { refusal: parsed.error.issues[0]?.message ?? 'it is no tool definition' };
  }
  const definition = withoutHidden(listed);
  return {
    tool: {
      originalName: parsed.data.name,
      ...partsOf(definition),
      definition,
      contentHash: createHash('sha256').update(text).digest('hex'),
    },
    wasCleaned: definition !== listed,
  };
}

/** What we read of a definition: the same objects, not copies. */
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

function problemIn(value: JsonValue, depth: number): string | undefined {
  if (typeof value === 'string') {
    return isCleanText(value) ? undefined : 'it has NUL or unpaired surrogate characters';
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth === MAX_DEPTH) return `it is nested deeper than ${MAX_DEPTH} levels`;
  for (const [key, item] of Object.entries(value)) {
    if (key === '__proto__') return 'it has a key __proto__';
    const problem = problemIn(key, depth) ?? problemIn(item, depth + 1);
    if (problem) return problem;
  }
  return undefined;
}

/** The same object when there is nothing to take out. */
function withoutHidden<T extends JsonValue>(value: T): T;
function withoutHidden(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value.replace(HIDDEN, '');
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => withoutHidden(item));
    return items.some((item, i) => item !== value[i]) ? items : value;
  }
  const entries = Object.entries(value);
  const cleaned = entries.map(([key, item]) => [withoutHidden(key), withoutHidden(item)] as const);
  return cleaned.some(([key, item], i) => key !== entries[i]?.[0] || item !== entries[i]?.[1])
    ? Object.fromEntries(cleaned)
    : value;
}

/** Short and printable, for a warning about a tool that may have neither. */
function nameOf(definition: JsonObject): string {
  const name = typeof definition['name'] === 'string' ? definition['name'] : '';
  return name
    .slice(0, NAMED)
    .toWellFormed()
    .replace(/[\p{C}\s]+/gu, ' ');
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
