export { AnswerHead } from './answer/answer-head.js';
export { EventStream, type StreamEvent } from './answer/event-stream.js';
export { HttpPool } from './connection/http-pool.js';
export {
  RequestFailed,
  type RequestHandlers,
  type HttpAnswer,
  HttpRequest,
  type HttpRequestOptions,
  UNAWAITED_MS,
} from './request/http-request.js';
