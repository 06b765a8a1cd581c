import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defaultDataDir } from '../start/installation.js';
import { usageError } from './exit-codes.js';

export interface Service {
  readonly url: string;
  readonly token: string | undefined;
}

/** Options take precedence over variables, variables over the address file in the local data folder. */
export function locateService(
  given: { readonly url?: string | undefined; readonly token?: string | undefined },
  env: Readonly<Record<string, string | undefined>>,
): Service {
  const dataDir = env['MCP_AGGREGATOR_DATA_DIR'] ?? defaultDataDir;
  const url =
    given.url ??
    env['SWITCHBOARD_URL'] ??
    textOf(join(dataDir, 'address')) ??
    'http://127.0.0.1:8081';
  const token = given.token ?? env['SWITCHBOARD_TOKEN'] ?? textOf(join(dataDir, 'admin-token'));
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw usageError(`${url} is not an http or https URL of a service.`);
  }
  // Snippets for clients contain the MCP endpoint; the base URL is the part before it.
  return { url: url.replace(/\/mcp(\/.*)?$/, '').replace(/\/+$/, ''), token };
}

function textOf(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
}
