const OTHER = /[^\p{L}\p{N}]+/gu;
/** `create_issue`, `create-issue`, `createIssue`, `server.create_issue`. */
const IDENTIFIER = /[\p{L}\p{N}]+(?:[_.:/-]+[\p{L}\p{N}]+)+|\p{Ll}+\p{Lu}[\p{L}\p{N}]*/gu;
/** Limits, because a query may be long and a name is not. */
const MAX_NAME = 200;
const MAX_IDENTIFIERS = 8;

/** A name without what people write differently: case, hyphens, underscores and spaces. */
export function lettersOf(name: string): string {
  return name.replace(OTHER, '').toLowerCase();
}

/** What may be the name of a tool in a query: all of it, and identifiers in it. */
export function namesIn(query: string): readonly string[] {
  const identifiers = query.match(IDENTIFIER) ?? [];
  return [...(query.length <= MAX_NAME ? [query] : []), ...identifiers.slice(0, MAX_IDENTIFIERS)];
}
