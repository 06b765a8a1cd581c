import { charCount, hasMoreChars, serverNames, UNKNOWN_FIELD } from '@app/platform';
import { z } from 'zod';
import { InvalidQuery } from '../aggregation.errors.js';
import { MAX_QUERY_CHARS, MAX_RESULTS } from './query-contract.js';

export interface AggregatedQuery {
  readonly query: string;
  readonly maxResults: number;
  /** Names; undefined: rules, else the catalogue, decide. */
  readonly servers: readonly string[] | undefined;
  /** Whether the answer explains the choice of tools. */
  readonly explain: boolean;
}

const got = (input: unknown): string =>
  (JSON.stringify(input) ?? 'nothing').slice(0, 100).toWellFormed();

const reader = z.object({
  query: z
    .string({
      error: ({ input }) =>
        input === undefined ? 'Is required' : `Must be a string, got ${got(input)}`,
    })
    .refine((query) => query.trim() !== '', 'Must not be empty')
    .refine((query) => !hasMoreChars(query, MAX_QUERY_CHARS), {
      error: ({ input }) =>
        `Must have at most ${MAX_QUERY_CHARS} characters, got ${charCount(String(input))}`,
    }),
  maxResults: z
    .int({ error: ({ input }) => `Must be a whole number, got ${got(input)}` })
    .refine((count) => count >= MAX_RESULTS.least && count <= MAX_RESULTS.most, {
      error: ({ input }) =>
        `Must be between ${MAX_RESULTS.least} and ${MAX_RESULTS.most}, got ${got(input)}`,
    })
    .default(MAX_RESULTS.usual),
  servers: serverNames.optional(),
  explain: z.boolean('Must be true or false').default(false),
});

/** Parses a query from REST or MCP; `refuseUnknown` for REST, where an unknown field is an error (contract R3). */
export function readQuery(
  input: unknown,
  { refuseUnknown }: { refuseUnknown: boolean },
): AggregatedQuery {
  const read = (refuseUnknown ? reader.strict() : reader).safeParse(input);
  if (read.success) {
    const { query, maxResults, servers, explain } = read.data;
    // An empty list counts as none.
    const named = servers?.length ? [...new Set(servers)] : undefined;
    return { query, maxResults, servers: named, explain };
  }
  const { issues } = read.error;
  const unknown = issues.find(({ code }) => code === 'unrecognized_keys');
  if (unknown?.code === 'unrecognized_keys') {
    throw new InvalidQuery(unknown.keys[0] ?? '', UNKNOWN_FIELD.msg, UNKNOWN_FIELD.type);
  }
  const [issue] = issues;
  throw new InvalidQuery(
    String(issue?.path[0] ?? 'query'),
    issue?.path.length ? issue.message : 'The arguments must be an object',
  );
}
