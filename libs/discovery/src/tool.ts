import { pinHashOf } from '@app/approvals';
import { type DiscoveredTool, partsOf } from '@app/catalogue';
import {
  cutText,
  isCleanText,
  isLongerThan,
  type JsonObject,
  type JsonValue,
  type Sliced,
} from '@app/platform';
import { Provenance } from '@app/mcp-protocol';
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { inWords } from './repair/members.js';
import { repairTool } from './repair/repair-tool.js';

/** A remark about one tool for the owner of its server. */
export interface ToolRemark {
  readonly name: string;
  readonly text: string;
}

const MAX_NAME_CHARS = 255;
const MAX_DEFINITION_CHARS = 262_144;
/** Limits recursion: deeper schemas can overflow the stack, and models cannot use them. */
const MAX_DEPTH = 64;
const NAMED = 100;

/**
 * Characters that are invisible to people but read by models: controls other than tab and line breaks, direction
 * overrides, zero-width marks, tags. Joiners and Arabic number signs are kept, because scripts and emoji need
 * them.
 */
const HIDDEN = /(?!\u200c|\u200d|[\t\n\r\u0600-\u0605\u06dd])[\p{Cc}\p{Cf}]/gu;

const definitionSchema = z.looseObject({
  name: z
    .string({ error: 'it has no name that is text' })
    .min(1, 'it has no name')
    .max(MAX_NAME_CHARS, `its name is longer than ${MAX_NAME_CHARS} characters`)
    .refine((name) => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(name) && name.search(HIDDEN) < 0, {
      message: 'its name has control or hidden characters',
    }),
});

/**
 * Validates the tools a server lists; an invalid tool does not affect the others. Of two tools with one name the
 * later counts (contract BR-003).
 */
export function* readTools(
  listed: readonly JsonObject[],
  provenance: Pick<Provenance, 'admit'> = Provenance.none,
): Sliced<{
  tools: DiscoveredTool[];
  remarks: ToolRemark[];
}> {
  const tools = new Map<string, DiscoveredTool>();
  const remarks: ToolRemark[] = [];
  for (const definition of listed) {
    yield;
    const admitted = provenance.admit(definition);
    if ('refusal' in admitted) {
      remarks.push({ name: nameOf(definition), text: admitted.refusal });
      continue;
    }
    const read = readTool(admitted.item);
    if ('refusal' in read) {
      remarks.push({ name: nameOf(definition), text: `is not published: ${read.refusal}` });
      continue;
    }
    const name = read.tool.originalName;
    if (read.tool.wasCleaned) {
      remarks.push({ name, text: 'is published without the hidden characters in its texts' });
    }
    if (read.repairs.length > 0) {
      remarks.push({ name, text: `is published in a repaired form: ${inWords(read.repairs)}` });
    }
    if (tools.has(name)) remarks.push({ name, text: 'is listed more than once; the last counts' });
    tools.set(name, read.tool);
  }
  return { tools: [...tools.values()], remarks };
}

type Reading =
  | { readonly refusal: string }
  | {
      readonly tool: DiscoveredTool;
      readonly repairs: readonly string[];
    };

function readTool(listed: JsonObject): Reading {
  if (isLongerThan(listed, MAX_DEFINITION_CHARS)) {
    return { refusal: `its definition is longer than ${MAX_DEFINITION_CHARS} characters` };
  }
  const problem = definitionProblem(listed);
  if (problem) return { refusal: problem };
  const parsed = definitionSchema.safeParse(listed);
  if (!parsed.success) {
    return { refusal: parsed.error.issues[0]?.message ?? 'it is no tool definition' };
  }
  const cleaned = withoutHidden(listed);
  const repaired = repairTool(cleaned);
  if ('refusal' in repaired) return repaired;
  const { item: definition, repairs } = repaired;
  // Hash the repaired definition: an older version stored the same list unrepaired.
  const hashed = JSON.stringify(repairs.length > 0 ? definition : listed);
  return {
    tool: {
      originalName: parsed.data.name,
      ...partsOf(definition),
      definition,
      contentHash: createHash('sha256').update(hashed).digest('hex'),
      // Of what the server listed: repairs may differ in the next version of this service.
      pinHash: pinHashOf(listed),
      wasCleaned: cleaned !== listed,
    },
    repairs,
  };
}

/** Why a definition is refused. Runs before any code that recurses without a depth limit. */
export function definitionProblem(definition: JsonObject): string | undefined {
  return problemIn(definition, 0);
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

/** Returns the same object when there is nothing to remove. */
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

/** A short, printable name for a warning about a tool whose name may be neither. */
function nameOf(definition: JsonObject): string {
  const name = typeof definition['name'] === 'string' ? definition['name'] : '';
  return cutText(name, NAMED).replace(/[\p{C}\s]+/gu, ' ');
}
