export { UpstreamSpan } from './upstream-span.js';
export { connectUpstream } from './connect/on-demand.js';
export { LogRing } from './process/log-ring.js';
export {
  AuthorizationFailed,
  AuthorizationNeeded,
  ConnectFailed,
  ConnectionLost,
  CredentialsRefused,
  type Executed,
  RequestCancelled,
  RequestTimedOut,
  UpstreamHttpError,
  UpstreamProtocolError,
} from './upstream.errors.js';
export type {
  CloseOptions,
  ConnectOptions,
  ListKind,
  ListLimits,
  NotificationHandler,
  RequestOptions,
  RootsProvider,
  ServerRequestHandler,
  SessionEnd,
  UpstreamSession,
  UpstreamTarget,
} from './upstream.js';
export type { Authorizer, Refusal } from './wire/authorizer.js';
