import { RE2JS } from 're2js';

/** Questions that match the pattern go to these servers; the first rule that matches decides. */
export interface QueryRule {
  /** RE2 syntax: matched in linear time, whoever writes the question. Upper and lower case are the same. */
  readonly pattern: string;
  readonly servers: readonly string[];
}

/** Why a pattern cannot be used, or undefined. */
export function patternProblem(pattern: string): string | undefined {
  try {
    compiled(pattern);
    return undefined;
  } catch (error) {
    return `Is not a regular expression of RE2 syntax, which has no look-around and no back-references: ${error instanceof Error ? error.message : 'unreadable'}`;
  }
}

/** The first rule that matches and names a server that is there. */
export function firstMatching(
  rules: readonly QueryRule[],
  query: string,
  isThere: (server: string) => boolean,
): QueryRule | undefined {
  return rules.find(
    ({ pattern, servers }) => servers.some(isThere) && compiled(pattern).matcher(query).find(),
  );
}

function compiled(pattern: string): RE2JS {
  return RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE);
}
