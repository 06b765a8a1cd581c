import { z } from 'zod';
import { InvalidQuestion } from './aggregation.errors.js';
import { MAX_QUERY_CHARS, MAX_RESULTS } from './query-contract.js';

export interface AggregatedQuery {
  readonly query: string;
  readonly maxResults: number;
  /** Names; undefined for those that rules or the catalogue say. */
  readonly servers: readonly string[] | undefined;
  /** Whether the answer says why which tool was asked. */
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
    .refine((query) => query.length <= MAX_QUERY_CHARS, {
      error: ({ input }) =>
        `Must have at most ${MAX_QUERY_CHARS} characters, got ${String(input).length}`,
    }),
  maxResults: z
    .int({ error: ({ input }) => `Must be a whole number, got ${got(input)}` })
    .refine((count) => count >= MAX_RESULTS.least && count <= MAX_RESULTS.most, {
      error: ({ input }) =>
        `Must be between ${MAX_RESULTS.least} and ${MAX_RESULTS.most}, got ${got(input)}`,
    })
    .default(MAX_RESULTS.usual),
  servers: z
    .array(z.string('Must be a list of server names'), 'Must be a list of server names')
    .max(1_000, 'Must name at most 1000 servers')
    .optional(),
  explain: z.boolean('Must be true or false').default(false),
});

/** Reads what either edge was sent; `refuseUnknown` for REST, where a misspelt field is an error (RULINGS R3). */
export function readQuery(
  input: unknown,
  { refuseUnknown }: { refuseUnknown: boolean },
): AggregatedQuery {
  const read = (refuseUnknown ? reader.strict() : reader).safeParse(input);
  if (read.success) {
    const { query, maxResults, servers, explain } = read.data;
    // An empty list names nobody in particular.
    const named = servers?.length ? [...new Set(servers)] : undefined;
    return { query, maxResults, servers: named, explain };
  }
  const [issue] = read.error.issues;
  if (issue?.code === 'unrecognized_keys') {
    throw new InvalidQuestion(issue.keys[0] ?? '', 'Unknown field');
  }
  throw new InvalidQuestion(
    String(issue?.path[0] ?? 'query'),
    issue?.path.length ? issue.message : 'The arguments must be an object',
  );
}
