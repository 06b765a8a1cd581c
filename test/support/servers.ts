import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);

/** The connection_config of a real MCP server from npm, over STDIO. */
export function npmServer(
  name: 'everything' | 'filesystem' | 'memory',
  ...args: string[]
): { command: string; args: string[]; env?: Record<string, string> } {
  const folder = dirname(require.resolve(`@modelcontextprotocol/server-${name}/package.json`));
  return { command: process.execPath, args: [join(folder, 'dist/index.js'), ...args] };
}
