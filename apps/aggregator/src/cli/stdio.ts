import { bridgeStdio } from '@app/mcp';
import type { Service } from './rest-client.js';

/** Is an MCP server on standard input and output until the client hangs up. Nothing else may be written there. */
export async function serveStdio({ url, token }: Service, endpoint: string): Promise<never> {
  const paths: Readonly<Record<string, string>> = { all: '/mcp', search: '/mcp/search' };
  const path = paths[endpoint] ?? `/mcp/servers/${encodeURIComponent(endpoint)}`;
  await bridgeStdio({ input: process.stdin, output: process.stdout, url: url + path, token });
  process.exit();
}
