export { SearchModule } from './search.module.js';
export {
  type FoundTool,
  MAX_QUERY_LENGTH,
  type SearchRequest,
  type SearchResult,
  SearchTools,
} from './search-tools.query.js';
