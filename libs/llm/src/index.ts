export { configuredLlm } from './configured-llm.js';
export { type Llm, type LlmQuestion, strictObject } from './llm.js';
export { failureReason, LlmFailed } from './llm.errors.js';
export { endpointUrl, ModelRequests } from './model-requests.js';
export { bearer } from './openai-llm.js';
