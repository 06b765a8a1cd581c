export { type BridgeOptions, bridgeStdio } from './bridge/stdio-bridge.js';
export { canonicalName, MAX_WIRE_NAME, wireName } from './names.js';
export { admits, isLogLevel, type LogLevel, moreTalkative } from './serving/log-level.js';
export { McpEndpoint } from './serving/mcp-endpoint.js';
export { envelopeFor } from './serving/modern-rules.js';
export { rpcCode, RpcError, type RpcResult } from './serving/rpc.js';
export type {
  Caller,
  ClientCall,
  McpClient,
  McpView,
  RootsClient,
  RootsOffer,
  ServerChange,
  ServerDescription,
} from './serving/view.js';
export { connectUpstream, openAuthorizer } from './upstream/on-demand.js';
export type { Authorizer } from './upstream/oauth/authorizer.js';
export type { OAuthAuthorizer } from './upstream/oauth/oauth-authorizer.js';
export { clientMetadata, type OAuthIdentity } from './upstream/oauth/oauth-identity.js';
export type { AuthorizationMemory, OAuthSettings } from './upstream/oauth/oauth-state.js';
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
  UpstreamRpcError,
} from './upstream/upstream.errors.js';
