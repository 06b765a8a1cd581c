import { type Database, Env, processVariables, SettingsStore, Variables } from '@app/platform';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { valueOrDefault } from '../connection/placeholders.js';
import { resolveConfig } from '../connection/resolve-config.js';
import { CredentialVault } from '../credentials/credential-vault.js';
import { ServerEntity } from '../server.entity.js';
import { ServerStore } from '../server.store.js';

/** Where a server is, without arguments, headers and the query of its URL. */
export type ServerTarget =
  | { readonly kind: 'program'; readonly command: string }
  | { readonly kind: 'url'; readonly url: string };

export interface StoredServer {
  readonly name: string;
  readonly wanted: boolean;
  /** Undefined when its configuration cannot be decrypted. */
  readonly target: ServerTarget | undefined;
}

export interface StoredServers {
  /** `none`: neither a setting nor a file has a key yet. */
  readonly key: 'fits' | 'wrong' | 'none';
  readonly servers: readonly StoredServer[];
}

/** Entities that `readStoredServers` needs. */
export const storedServerEntities = [ServerEntity];

/** For the doctor, without a running service: reads only. */
export async function readStoredServers(database: Database, env: Env): Promise<StoredServers> {
  const file = join(env.MCP_AGGREGATOR_DATA_DIR, 'credential-key');
  if (!env.MCP_CREDENTIAL_KEY && !existsSync(file)) return { key: 'none', servers: [] };
  const vault = new CredentialVault(env, new SettingsStore(database));
  const fits = await vault.fits();
  const variables = new Variables(processVariables);
  const rows = await new ServerStore(database, vault).allWithConfig();
  const servers = rows.map(({ server, config }): StoredServer => {
    const resolved =
      config &&
      resolveConfig(
        config,
        (name, fallback) => valueOrDefault(variables.get(name), fallback) ?? '',
      );
    return {
      name: server.name,
      wanted: server.wanted,
      target:
        resolved &&
        (resolved.kind === 'STDIO'
          ? { kind: 'program', command: resolved.command }
          : { kind: 'url', url: resolved.url }),
    };
  });
  return { key: fits ? 'fits' : 'wrong', servers };
}
