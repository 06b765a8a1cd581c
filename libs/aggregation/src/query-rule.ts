import type { FieldIssue } from '@app/platform';
import { RE2JS } from 're2js';

/** Questions that match the pattern go to these servers; the first rule that matches decides. */
export interface QueryRule {
  /** RE2 syntax: matched in linear time, whoever writes the question. Upper and lower case are the same. */
  readonly pattern: string;
  readonly servers: readonly string[];
}

/** What is wrong with the patterns of a list of rules. */
export function ruleIssues(rules: readonly QueryRule[]): FieldIssue[] {
  return rules.flatMap(({ pattern }, index) => {
    const problem = patternProblem(pattern);
    return problem === undefined
      ? []
      : [{ loc: ['body', 'rules', index, 'pattern'], msg: problem, type: 'value_error' }];
  });
}

function patternProblem(pattern: string): string | undefined {
  try {
    compiled(pattern);
    return undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'it cannot be read';
    return `Must be a regular expression of RE2 syntax, which has no look-around and no back-references: ${reason}`;
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
