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
