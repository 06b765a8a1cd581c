/** Name and version in the MCP handshakes; a test compares them with package.json. */
export const product = { name: 'switchboard', version: '0.2.0' } as const;

/** Service name in `/health`, logs and metrics, fixed by the contract (R1). */
export const SERVICE_NAME = 'mcp-aggregator-service';
