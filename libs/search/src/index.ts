export type { NoGoodMatch } from './fit/no-good-match.js';
export { SearchModule } from './search.module.js';
export { type FoundTool, MAX_QUERY_LENGTH, SearchTools } from './search-tools.query.js';
