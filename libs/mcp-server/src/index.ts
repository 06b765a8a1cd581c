export type { ConnectedClient } from './clients/connected-client.js';
export { McpEndpoint } from './endpoint/mcp-endpoint.js';
export { envelopeFor } from './modern/envelope.js';
export type {
  Caller,
  ClientCall,
  McpClient,
  McpSurface,
  RootsClient,
  RootsOffer,
  ServerChange,
  ServerDescription,
} from './surface.js';
export { callNotFound, sessionNotFound } from './endpoint/interruption.js';
export { type ClusterView, ownerOfCall, ownerOfSession } from './owners.js';
