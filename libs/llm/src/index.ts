export { configuredLlm } from './configured-llm.js';
export { failureReason } from './failure-reason.js';
export { type Llm, type LlmQuestion, strictObject } from './llm.js';
export { LlmFailed } from './llm.errors.js';
