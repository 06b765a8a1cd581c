const OTHER = /[^\p{L}\p{N}]+/gu;
const RUN = /[\p{L}\p{N}_.:/-]+/gu;
const OUTER_SEPARATORS = /^[_.:/-]+|[_.:/-]+$/g;
/** `create_issue`, `create-issue`, `server.create_issue`; `createIssue`. */
const IDENTIFIER = /[_.:/-]|^\p{Ll}+\p{Lu}/u;
/** Limits, because a query may be long and a name is not. */
const MAX_NAME = 200;
const MAX_IDENTIFIERS = 8;

/** A name without what people write differently: case, hyphens, underscores and spaces. */
export function lettersOf(name: string): string {
  return name.replace(OTHER, '').toLowerCase();
}

/** What may be the name of a tool in a query: all of it, and identifiers in it. */
export function namesIn(query: string): readonly string[] {
  // Runs first, so that a long query is read once.
  const identifiers = (query.match(RUN) ?? [])
    .filter(({ length }) => length <= MAX_NAME)
    .map((run) => run.replace(OUTER_SEPARATORS, ''))
    .filter((run) => IDENTIFIER.test(run));
  return [...(query.length <= MAX_NAME ? [query] : []), ...identifiers.slice(0, MAX_IDENTIFIERS)];
}
