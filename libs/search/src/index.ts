export { SearchModule } from './search.module.js';
export {
  type FoundTool,
  type SearchRequest,
  type SearchResult,
  SearchTools,
} from './search-tools.query.js';
