import { bridgeStdio } from './stdio-bridge.js';
import type { Service } from './locate-service.js';

/**
 * Serves MCP on standard input and output until the client closes them. Nothing else may be written to standard output.
 */
export async function serveStdio({ url, token }: Service, endpoint: string): Promise<never> {
  const paths: Readonly<Record<string, string>> = { all: '/mcp', search: '/mcp/search' };
  const path = paths[endpoint] ?? `/mcp/servers/${encodeURIComponent(endpoint)}`;
  await bridgeStdio({ input: process.stdin, output: process.stdout, url: url + path, token });
  process.exit();
}
