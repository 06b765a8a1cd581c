import type { QueryServersResponses } from '@app/api-client';
import { queryOptions } from '@tanstack/react-query';
import { ask } from '../../api/service.js';

export type QueryAnswer = QueryServersResponses[200];
export type QueryResult = QueryAnswer['results'][number];
export type QueryExplanation = NonNullable<QueryAnswer['metadata']['explanation']>;
export type TracedCall = QueryExplanation['timeline'][number];
export type FoldedPassage = QueryExplanation['folded'][number];

export interface Question {
  readonly text: string;
  /** Empty: all that can answer. */
  readonly server: string;
  readonly maxResults: number;
}

/** Asked once; only `Ask again` asks the servers again. */
export const answerQuery = ({ text, server, maxResults }: Question) =>
  queryOptions({
    queryKey: ['query', text, server, maxResults],
    queryFn: () =>
      ask((api) =>
        api.queryServers({
          body: {
            query: text,
            maxResults,
            explain: true,
            ...(server !== '' && { servers: [server] }),
          },
        }),
      ),
    enabled: text.trim() !== '',
    staleTime: Infinity,
    retry: false,
  });
