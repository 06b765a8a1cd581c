import { isJsonObject, type JsonObject, type JsonValue } from '@app/platform';
import { pinnedPart } from './pin.js';

/** One difference between two definitions; undefined where one of them has no such member. */
export interface FieldChange {
  /** Such as `inputSchema/properties/path/description`. */
  readonly path: string;
  readonly before: JsonValue | undefined;
  readonly after: JsonValue | undefined;
}

/** What differs in the pinned parts of two definitions, in the order of their members. */
export function fieldChanges(before: JsonObject, after: JsonObject): FieldChange[] {
  return changesIn(pinnedPart(before), pinnedPart(after), '');
}

/** The members that differ: `description`, `inputSchema`. */
export function changedMembers(changes: readonly FieldChange[]): string[] {
  return [...new Set(changes.map(({ path }) => path.split('/', 1)[0] ?? path))];
}

function changesIn(before: JsonObject, after: JsonObject, path: string): FieldChange[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) =>
    changesAt(before[key], after[key], path === '' ? key : `${path}/${key}`),
  );
}

function changesAt(
  before: JsonValue | undefined,
  after: JsonValue | undefined,
  path: string,
): FieldChange[] {
  if (before !== undefined && after !== undefined) {
    if (isJsonObject(before) && isJsonObject(after)) return changesIn(before, after, path);
    if (JSON.stringify(before) === JSON.stringify(after)) return [];
  }
  return before === after ? [] : [{ path, before, after }];
}
