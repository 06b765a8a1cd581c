export type {
  ReceivedResponse,
  RpcErrorBody,
  RpcMessage,
  RpcNotification,
  RpcRequest,
  RpcResponse,
  RpcResult,
} from './codec/message.js';
export { idIn, idJson, idText, type RpcId } from './codec/message-id.js';
export { messageBetween } from './codec/oversized-message.js';
export { MAX_BATCH, readFrame, type UnreadableMessage } from './codec/read-frame.js';
export { type Incoming, readMessage } from './codec/read-message.js';
export { rpcCode } from './codec/rpc-code.js';
export { RpcError, UpstreamRpcError } from './codec/rpc-error.js';
export { messageBytes, messagePieces, messageText } from './codec/write-message.js';
export { mcpHeader } from './headers/header-names.js';
export { declaredHeaders, headerText, paramHeaders } from './headers/param-headers.js';
export { ToolHeaders } from './headers/tool-headers.js';
export { subjectOf } from './headers/request-subject.js';
export { canonicalName, MAX_WIRE_NAME, wireName } from './names/names.js';
export { MAX_AGGREGATORS, Provenance, viaIn, viaMeta } from './names/provenance.js';
export { admits, isLogLevel, type LogLevel, moreTalkative } from './revision/log-level.js';
export {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LEGACY_VERSIONS,
  LOG_LEVEL_META_KEY,
  MODERN_VERSIONS,
  PROTOCOL_VERSION_META_KEY,
  type ProtocolEra,
  SERVER_INFO_META_KEY,
  SUBSCRIPTION_ID_META_KEY,
} from './revision/protocol.js';
