/** Every JSON-RPC error code of the service: those of JSON-RPC, of MCP, and of the official SDKs. */
export const rpcCode = {
  parseError: -32_700,
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  internalError: -32_603,
  /** First of the codes that servers may define: the request was valid, serving it failed. */
  serverError: -32_000,
  sessionNotFound: -32_001,
  resourceNotFound: -32_002,
  headerMismatch: -32_020,
  missingCapability: -32_021,
  unsupportedVersion: -32_022,
  /** The client has to open a URL first (elicitation by URL). */
  urlElicitationRequired: -32_042,
} as const;
