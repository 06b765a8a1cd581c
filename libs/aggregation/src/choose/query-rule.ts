import { atOnce, type FieldIssue, type Sliced } from '@app/platform';
import { RE2JS } from 're2js';
import { MAX_RULES } from '../settings/settings-limits.js';

/** In instructions of the compiled program; the worst matching time is this times the query length. */
const MAX_PROGRAM = 2_000;

/** Queries that match the pattern go to these servers; the first matching rule decides. */
export interface QueryRule {
  /** RE2 syntax, matched in linear time, ignoring case. */
  readonly pattern: string;
  readonly servers: readonly string[];
}

/** Problems of the patterns in a list of rules. */
export function ruleIssues(rules: readonly QueryRule[]): FieldIssue[] {
  return atOnce(checkingRules(rules));
}

/** In slices: compiling a hostile pattern takes about 50 ms. */
export function* checkingRules(rules: readonly QueryRule[]): Sliced<FieldIssue[]> {
  const issues: FieldIssue[] = [];
  for (const [index, { pattern }] of rules.entries()) {
    yield;
    const msg = patternProblem(pattern);
    const loc = ['body', 'rules', index, 'pattern'];
    if (msg !== undefined) issues.push({ loc, msg, type: 'value_error' });
  }
  return issues;
}

function patternProblem(pattern: string): string | undefined {
  try {
    // Not cached: it may be refused, and large.
    return RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE).programSize() > MAX_PROGRAM
      ? 'Repeats too much: it would take long to match'
      : undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'it cannot be read';
    return `Must be a regular expression of RE2 syntax, which has no look-around and no back-references: ${reason}`;
  }
}

/** The first rule that matches and names at least one server for which `isKnown` holds. */
export function firstMatching(
  rules: readonly QueryRule[],
  query: string,
  isKnown: (server: string) => boolean,
): QueryRule | undefined {
  return rules.find(
    ({ pattern, servers }) => servers.some(isKnown) && compiled(pattern).matcher(query).find(),
  );
}

/** Compiling takes up to milliseconds, and every query is matched against every rule. */
const known = new Map<string, RE2JS>();

function compiled(pattern: string): RE2JS {
  const before = known.get(pattern);
  if (before) return before;
  const expression = RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE);
  if (known.size >= MAX_RULES) known.clear();
  known.set(pattern, expression);
  return expression;
}
