import { queryOptions } from '@tanstack/react-query';
import { ask } from '../../api/service.js';
import { type SearchConfig, shareOf } from './search-config.js';

/** The answer before stays while the next is read. */
export const explainedSearchQuery = (query: string, config: SearchConfig) =>
  queryOptions({
    queryKey: ['tools', 'search', query, config],
    queryFn: () => {
      const { strategy, view, server, limit } = config;
      const threshold = shareOf(config.threshold);
      const skillThreshold = shareOf(config.skillThreshold);
      return ask((api) =>
        api.searchTools({
          body: {
            query,
            strategy,
            limit,
            explain: true,
            include_schemas: false,
            ...(view !== '' && { view }),
            ...(server !== '' && { server_filter: [server] }),
            ...(threshold !== undefined && { tool_threshold: threshold }),
            ...(skillThreshold !== undefined && { skill_threshold: skillThreshold }),
          },
        }),
      );
    },
    enabled: query.trim() !== '',
    placeholderData: (before) => before,
  });
