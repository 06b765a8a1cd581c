import { querySchema, answerSchema, queryToolListing } from './query-contract.js';

/** The schemas of the contract, written out: what clients were promised may not change by accident. */
describe('the contract of the query tool', () => {
  it('has its name and description', () => {
    expect(queryToolListing).toMatchObject({
      name: 'mcp__proxy__aggregator__query',
      description:
        'Query multiple MCP servers concurrently and receive ranked, aggregated results optimized for LLM context efficiency.',
    });
  });

  it('has its input schema', () => {
    expect(querySchema).toEqual({
      type: 'object',
      properties: {
        query: {
          type: 'string',
          description: 'The user prompt or question to search for across MCP servers',
          minLength: 1,
          maxLength: 10000,
        },
        maxResults: {
          type: 'integer',
          description: 'Maximum number of results to return (default: 30)',
          minimum: 10,
          maximum: 100,
          default: 30,
        },
        servers: {
          type: 'array',
          description: 'Optional list of specific servers to query (default: all configured)',
          items: { type: 'string' },
        },
      },
      required: ['query'],
    });
  });

  it('requires of every answer what the contract requires', () => {
    const { results, metadata } = answerSchema.properties;
    expect(answerSchema.required).toEqual(['results', 'metadata']);
    expect(results.items.required).toEqual(['content', 'server', 'relevanceScore', 'rank']);
    expect(metadata.required).toEqual([
      'serversQueried',
      'serversSucceeded',
      'resultsReturned',
      'processingTimeMs',
    ]);
    expect(Object.keys(metadata.properties)).toEqual([
      'serversQueried',
      'serversSucceeded',
      'totalResultsRaw',
      'totalResultsDedup',
      'resultsReturned',
      'processingTimeMs',
      'serverDiversity',
    ]);
  });
});
