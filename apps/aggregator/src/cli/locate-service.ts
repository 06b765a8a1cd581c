import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defaultDataDir } from '../start/installation.js';
import { usageError } from './exit-codes.js';

export interface Service {
  readonly url: string;
  readonly token: string | undefined;
}

export interface GivenService {
  readonly url?: string | undefined;
  readonly token?: string | undefined;
}

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * Options take precedence over variables, variables over the files in the local data folder. The token of the folder is
 * that of its own service, so it is sent to no other address than that one, or this machine.
 */
export function locateService(
  given: GivenService,
  env: Readonly<Record<string, string | undefined>>,
): Service {
  const dataDir = env['MCP_AGGREGATOR_DATA_DIR'] ?? defaultDataDir;
  const address = textOf(join(dataDir, 'address'));
  const url = given.url ?? env['SWITCHBOARD_URL'] ?? address ?? 'http://127.0.0.1:8081';
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw usageError(`${url} is not an http or https URL of a service.`);
  }
  const ofFolder = isOfFolder(url, address) ? textOf(join(dataDir, 'admin-token')) : undefined;
  const token = given.token ?? env['SWITCHBOARD_TOKEN'] ?? ofFolder;
  // Snippets for clients contain the MCP endpoint; the base URL is the part before it.
  return { url: url.replace(/\/mcp(\/.*)?$/, '').replace(/\/+$/, ''), token };
}

/** The service of the data folder. SWITCHBOARD_TOKEN is not for it if SWITCHBOARD_URL names another one. */
export function locateLocalService(
  url: string,
  token: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): Service {
  const { SWITCHBOARD_URL: other, SWITCHBOARD_TOKEN: ofOther, ...rest } = env;
  const isOther = other !== undefined && !isOfFolder(other, url);
  return locateService({ url, token }, isOther ? rest : { ...rest, SWITCHBOARD_TOKEN: ofOther });
}

function isOfFolder(url: string, address: string | undefined): boolean {
  const { origin, hostname } = new URL(url);
  if (LOOPBACK.test(hostname)) return true;
  return address !== undefined && URL.canParse(address) && new URL(address).origin === origin;
}

function textOf(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
}
