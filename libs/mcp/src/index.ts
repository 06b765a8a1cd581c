export { connectUpstream } from './upstream/connect-upstream.js';
export { LogRing } from './upstream/log-ring.js';
export type {
  CloseOptions,
  ConnectOptions,
  ListKind,
  ListLimits,
  NotificationHandler,
  ProtocolEra,
  RequestOptions,
  ServerRequestHandler,
  SessionEnd,
  UpstreamSession,
  UpstreamTarget,
} from './upstream/upstream.js';
export {
  AnswerTooLarge,
  ConnectFailed,
  ConnectionLost,
  CredentialsRefused,
  type Executed,
  RequestCancelled,
  RequestTimedOut,
  UpstreamHttpError,
  UpstreamProtocolError,
  UpstreamRpcError,
} from './upstream/upstream.errors.js';
