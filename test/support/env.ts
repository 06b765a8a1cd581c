import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Env, parseEnv } from '@app/platform';

/** Settings for a service under test: any free port, quiet, nothing shared. */
export function testEnv(dataDir: string, overrides: Record<string, string> = {}): Env {
  return parseEnv({
    MCP_AGGREGATOR_PORT: '0',
    MCP_AGGREGATOR_DATA_DIR: dataDir,
    MCP_AGGREGATOR_LOG_LEVEL: 'fatal',
    ...overrides,
  });
}

export async function temporaryFolder(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'switchboard-test-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}
