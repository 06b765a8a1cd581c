/** Headers of Streamable HTTP, in lower case as Node provides them. */
export const mcpHeader = {
  sessionId: 'mcp-session-id',
  protocolVersion: 'mcp-protocol-version',
  method: 'mcp-method',
  name: 'mcp-name',
  lastEventId: 'last-event-id',
  paramPrefix: 'mcp-param-',
} as const;
