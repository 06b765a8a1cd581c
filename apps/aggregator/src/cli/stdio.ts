import { bridgeStdio } from './stdio-bridge.js';
import type { Service } from './locate-service.js';

/** What the client is served: everything, three tools that find and call the others, or one server. */
export interface StdioEndpoint {
  /** `all`, `search`, or the name of a server. */
  readonly name: string;
  /** Only what this view offers; not with the name of a server. */
  readonly view?: string | undefined;
}

/**
 * Serves MCP on standard input and output until the client closes them. Nothing else may be written to standard output.
 */
export async function serveStdio({ url, token }: Service, endpoint: StdioEndpoint): Promise<never> {
  const path = endpointPath(endpoint);
  await bridgeStdio({ input: process.stdin, output: process.stdout, url: url + path, token });
  process.exit();
}

function endpointPath({ name, view }: StdioEndpoint): string {
  const suffix = new Map([
    ['all', ''],
    ['search', '/search'],
  ]).get(name);
  if (suffix !== undefined) {
    return (view === undefined ? '/mcp' : `/mcp/views/${encodeURIComponent(view)}`) + suffix;
  }
  if (view !== undefined) throw new Error('--view goes with all or search, not with a server');
  return `/mcp/servers/${encodeURIComponent(name)}`;
}
