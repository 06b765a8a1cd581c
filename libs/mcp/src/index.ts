export { canonicalName, wireName } from './names.js';
export { McpEndpoint } from './serving/mcp-endpoint.js';
export { isJsonObject, rpcCode, RpcError } from './serving/rpc.js';
export type {
  Caller,
  ClientCall,
  McpClient,
  McpView,
  ServerChange,
  ServerDescription,
} from './serving/view.js';
