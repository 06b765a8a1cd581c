export { mimeTypeOf } from './shorten/notice.js';
export { ReadKeptResult } from './read/read-kept-result.query.js';
export { ResultBudget } from './result-budget.js';
export { ResultsModule } from './results.module.js';
export { isResultUri, readResultUri, resultUri } from './result-uri.js';
