import { isJsonObject, type JsonObject, type JsonValue } from '@app/platform';
import { createHash } from 'node:crypto';

/**
 * What a person approves of a definition: what models read and what decides how a tool is called. Icons and `_meta` are
 * left out, because they change without any effect on that.
 */
const PINNED = [
  'name',
  'title',
  'description',
  'inputSchema',
  'outputSchema',
  'annotations',
  'arguments',
  'instructions',
] as const;

/** The pinned members, with the keys of every object in order, so that their order is no change. */
export function pinnedPart(definition: JsonObject): JsonObject {
  return Object.fromEntries(
    PINNED.flatMap((member) => {
      const value = definition[member];
      return value === undefined ? [] : [[member, inKeyOrder(value)] as const];
    }),
  );
}

export function pinHashOf(definition: JsonObject): string {
  return sha256(JSON.stringify(pinnedPart(definition)));
}

/** Of several definitions at once; a change of any of them changes it. */
export function hashOfAll(hashes: readonly string[]): string {
  return sha256(hashes.toSorted().join('\n'));
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Definitions are nested at most 64 levels, which is checked when they are read. */
function inKeyOrder(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(inKeyOrder);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .toSorted()
      .map((key) => [key, inKeyOrder(value[key] ?? null)]),
  );
}
