import { cutText, type JsonObject, type JsonValue } from '@app/platform';
import type { DefinitionChange } from '../approval.js';
import { changedMembers } from './field-changes.js';

/** Bounds of one row of the history: some 30 kB. */
const NAMED_CHANGES = 20;
const NAMED_FIELDS = 5;
const MAX_VALUE_CHARS = 150;
const NAMED_TOOLS = 100;

/** Changes for the history of a server, with what differs in each. */
export function changeDetails(changes: readonly DefinitionChange[]): JsonObject {
  const more = changes.length - NAMED_CHANGES;
  return {
    changes: changes.slice(0, NAMED_CHANGES).map((change) => ({
      name: change.name,
      ...(change.renamedFrom !== null && { renamed_from: change.renamedFrom }),
      ...(change.approvedDefinition === null
        ? { is_new: true }
        : { fields: changedMembers(change.changes), diff: fieldsOf(change) }),
      findings: change.findings.map(({ code }) => code),
    })),
    ...(more > 0 && { more }),
  };
}

export function namesIn(names: readonly string[]): JsonObject {
  const more = names.length - NAMED_TOOLS;
  return { names: names.slice(0, NAMED_TOOLS), ...(more > 0 && { more }) };
}

function fieldsOf({ changes }: DefinitionChange): JsonObject[] {
  return changes.slice(0, NAMED_FIELDS).map(({ path, before, after }) => ({
    path: cutText(path, MAX_VALUE_CHARS),
    before: shown(before),
    after: shown(after),
  }));
}

function shown(value: JsonValue | undefined): string | null {
  if (value === undefined) return null;
  return cutText(typeof value === 'string' ? value : JSON.stringify(value), MAX_VALUE_CHARS);
}
