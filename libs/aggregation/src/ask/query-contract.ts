/** Input and output of the aggregated query for MCP and REST. The texts are part of the contract. */
export const QUERY_TOOL = 'mcp__proxy__aggregator__query';
/** Clients that prefix tools with `mcp__<server>__` send only the rest. */
export const QUERY_TOOL_ALIAS = 'aggregator__query';

export const MAX_QUERY_CHARS = 10_000;
export const MAX_RESULTS = { least: 10, most: 100, usual: 30 } as const;

export const querySchema = {
  type: 'object',
  properties: {
    query: {
      type: 'string',
      description: 'The user prompt or question to search for across MCP servers',
      minLength: 1,
      maxLength: MAX_QUERY_CHARS,
    },
    maxResults: {
      type: 'integer',
      description: `Maximum number of results to return (default: ${MAX_RESULTS.usual})`,
      minimum: MAX_RESULTS.least,
      maximum: MAX_RESULTS.most,
      default: MAX_RESULTS.usual,
    },
    servers: {
      type: 'array',
      description: 'Optional list of specific servers to query (default: all configured)',
      items: { type: 'string' as const },
    },
  },
  required: ['query'],
};

/** For REST only: the schema that models see is fixed by the contract. */
export const explainableQuerySchema = {
  ...querySchema,
  properties: {
    ...querySchema.properties,
    explain: {
      type: 'boolean',
      description: 'Say in the metadata which tools were asked with what, which not, and why',
      default: false,
    },
  },
};

const share = { type: 'number', minimum: 0, maximum: 1 } as const;

export const answerSchema = {
  type: 'object',
  properties: {
    results: {
      type: 'array',
      items: {
        type: 'object' as const,
        properties: {
          content: { type: 'string', description: 'The result content from the MCP server' },
          server: { type: 'string', description: 'Which MCP server provided this result' },
          relevanceScore: { ...share, description: 'Relevance score (0.0 to 1.0)' },
          rank: {
            type: 'integer',
            description: 'Ranking position (1 = most relevant)',
            minimum: 1,
          },
          timestamp: {
            type: 'string',
            format: 'date-time',
            description: 'When this result was retrieved',
          },
        },
        required: ['content', 'server', 'relevanceScore', 'rank'],
      },
    },
    metadata: {
      type: 'object',
      properties: {
        serversQueried: { type: 'integer', description: 'Number of servers queried' },
        serversSucceeded: {
          type: 'integer',
          description: 'Number of servers that responded successfully',
        },
        totalResultsRaw: { type: 'integer', description: 'Total results before ranking/dedup' },
        totalResultsDedup: { type: 'integer', description: 'Results after deduplication' },
        resultsReturned: { type: 'integer', description: 'Final result count returned' },
        processingTimeMs: {
          type: 'integer',
          description: 'Total processing time in milliseconds',
        },
        serverDiversity: {
          ...share,
          description: 'Proportion of queried servers that contributed results',
        },
      },
      required: ['serversQueried', 'serversSucceeded', 'resultsReturned', 'processingTimeMs'],
    },
  },
  required: ['results', 'metadata'],
};

const asked = {
  type: 'object' as const,
  properties: {
    tool: { type: 'string' },
    arguments: { type: 'object', additionalProperties: true },
    why: { type: 'string' },
  },
};

const milliseconds = { type: 'integer', minimum: 0 } as const;
const count = { type: 'integer', minimum: 0 } as const;

const timelineEntry = {
  type: 'object' as const,
  properties: {
    server: { type: 'string', example: 'github' },
    tool: { type: 'string', example: 'search_issues' },
    kind: {
      type: 'string',
      enum: ['look_up', 'call', 'word'],
      description:
        'look_up: its answer gives the arguments of the next call; word: a repetition with one word of the query',
    },
    arguments: {
      type: 'array',
      description: 'Names only',
      items: { type: 'string' as const },
      example: ['query'],
    },
    startMs: { ...milliseconds, description: 'Since the start of the query' },
    endMs: milliseconds,
    outcome: { type: 'string', enum: ['succeeded', 'failed', 'timed_out', 'unavailable'] },
    error: { type: 'string', nullable: true },
    pieces: { ...count, description: 'Passages in its answer' },
  },
  required: [
    'server',
    'tool',
    'kind',
    'arguments',
    'startMs',
    'endMs',
    'outcome',
    'error',
    'pieces',
  ],
};

const foldedPassage = {
  type: 'object' as const,
  properties: {
    into: { ...count, description: 'Rank of the result that it is a duplicate of', example: 1 },
    server: { type: 'string' },
    tool: { type: 'string' },
    url: { type: 'string' },
    beginning: { type: 'string', description: 'Of its text' },
  },
  required: ['into', 'server', 'tool', 'beginning'],
};

const tokenCounts = {
  type: 'object',
  description: 'Estimated; read = duplicates + notReturned + cut + returned',
  properties: {
    read: { ...count, description: 'In all answers', example: 18_420 },
    duplicates: { ...count, description: 'Folded into other passages', example: 9_310 },
    notReturned: {
      ...count,
      description: 'Passages that say nothing about the query, or of a lower rank',
      example: 4_880,
    },
    cut: { ...count, description: 'Ends of long results', example: 2_100 },
    returned: { ...count, example: 2_130 },
  },
  required: ['read', 'duplicates', 'notReturned', 'cut', 'returned'],
};

const phases = {
  type: 'object',
  description:
    'Milliseconds since the start of the query at which each phase ended, and its limits',
  properties: {
    chosenMs: { ...milliseconds, description: 'Servers and tools were chosen' },
    answeredMs: { ...milliseconds, description: 'The last server had an outcome' },
    rankedMs: { ...milliseconds, description: 'The answers were ranked and merged' },
    serverTimeoutMs: { ...milliseconds, description: 'For each server, after the choice' },
    queryTimeoutMs: milliseconds,
  },
  required: ['chosenMs', 'answeredMs', 'rankedMs', 'serverTimeoutMs', 'queryTimeoutMs'],
};

const sourceOfResult = {
  type: 'object' as const,
  properties: {
    server: { type: 'string', example: 'github' },
    tool: { type: 'string', example: 'search_issues' },
    url: { type: 'string' },
  },
  required: ['server', 'tool'],
};

/** What an answer has beyond the schema that models see. */
const resultsOverRest = {
  ...answerSchema.properties.results,
  items: {
    ...answerSchema.properties.results.items,
    properties: {
      ...answerSchema.properties.results.items.properties,
      tool: { type: 'string', description: 'Name of the tool at its server' },
      url: { type: 'string' },
      sources: {
        type: 'array',
        description: 'Only if several answers have it: each of them, with the first',
        items: sourceOfResult,
      },
    },
  },
};

const serverOutcomes = {
  type: 'array',
  items: {
    type: 'object' as const,
    properties: {
      name: { type: 'string' },
      status: { type: 'string', enum: ['succeeded', 'failed', 'timed_out', 'unavailable'] },
      tool: { type: 'string', nullable: true, description: 'Names of the tools that were asked' },
      elapsedMs: milliseconds,
      error: { type: 'string', nullable: true },
      truncated: { type: 'boolean', description: 'Only the beginning of an answer was read' },
    },
    required: ['name', 'status', 'tool', 'elapsedMs', 'error'],
  },
};

export const explainedAnswerSchema = {
  ...answerSchema,
  properties: {
    ...answerSchema.properties,
    results: resultsOverRest,
    metadata: {
      ...answerSchema.properties.metadata,
      properties: {
        ...answerSchema.properties.metadata.properties,
        servers: serverOutcomes,
        explanation: {
          type: 'object',
          description: 'With `explain` only',
          properties: {
            rule: {
              type: 'string',
              nullable: true,
              description: 'Pattern of the rule that chose the servers',
            },
            servers: {
              type: 'array',
              items: {
                type: 'object' as const,
                required: ['name', 'asked', 'notAsked'],
                properties: {
                  name: { type: 'string' },
                  planner: {
                    type: 'string',
                    description:
                      'How the configured language model took part in the choice, or why it did not',
                  },
                  asked: { type: 'array', description: 'In this order', items: asked },
                  notAsked: {
                    type: 'array',
                    items: {
                      type: 'object' as const,
                      properties: { tool: { type: 'string' }, reason: { type: 'string' } },
                    },
                  },
                },
              },
            },
            notQueried: {
              type: 'array',
              description: 'Servers that were left out; empty for a query that names its servers',
              items: {
                type: 'object' as const,
                properties: { server: { type: 'string' }, reason: { type: 'string' } },
                required: ['server', 'reason'],
              },
            },
            timeline: {
              type: 'array',
              description: 'The calls, by their start; at most 200',
              items: timelineEntry,
            },
            phases,
            folded: {
              type: 'array',
              description: 'Duplicates of the results; at most 100',
              items: foldedPassage,
            },
            foldedTotal: count,
            tokens: tokenCounts,
          },
          required: [
            'rule',
            'servers',
            'notQueried',
            'timeline',
            'phases',
            'folded',
            'foldedTotal',
            'tokens',
          ],
        },
      },
    },
  },
};

/** The entry in `tools/list`. */
export const queryToolListing = {
  name: QUERY_TOOL,
  title: 'Ask many servers',
  description:
    'Query multiple MCP servers concurrently and receive ranked, aggregated results optimized for LLM context efficiency.',
  inputSchema: querySchema,
  outputSchema: answerSchema,
  annotations: { readOnlyHint: true, openWorldHint: true },
};
