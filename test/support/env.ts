import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Env, parseEnv } from '@app/platform';

/** On a busy machine every answer may take seconds. */
export const PATIENCE = {
  MCP_AGGREGATOR_DATABASE_WAIT: '10',
  MCP_AGGREGATOR_QUERY_SERVER_TIMEOUT: '60',
  MCP_AGGREGATOR_QUERY_TIMEOUT: '120',
};

/** Settings for a service under test: any free port, no logs, nothing shared. */
export function testEnv(dataDir: string, overrides: Record<string, string> = {}): Env {
  return parseEnv({
    MCP_AGGREGATOR_PORT: '0',
    MCP_AGGREGATOR_DATA_DIR: dataDir,
    MCP_AGGREGATOR_LOG_LEVEL: 'fatal',
    ...PATIENCE,
    ...overrides,
  });
}

export async function temporaryFolder(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'switchboard-test-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}
