import { Injectable } from '@nestjs/common';
import { Database, isJsonObject, type JsonObject, type Tx } from '@app/platform';
import { CredentialVault } from '@app/registry';

/** The rows of `mcp.oauth_keys`: private keys as sealed JWKs, which all replicas sign with. */
@Injectable()
export class KeyStore {
  constructor(
    private readonly database: Database,
    private readonly vault: CredentialVault,
  ) {}

  /** The newest first. */
  async all(tx: Tx = this.database.direct): Promise<JsonObject[]> {
    const rows = await tx.query<{ kid: string; key: unknown }[]>(
      'SELECT kid, key FROM mcp.oauth_keys ORDER BY created_at DESC, kid',
    );
    return rows.map(({ kid, key }) => this.open(kid, key));
  }

  /** The keys in use: of replicas that start at the same time only the first adds its own. */
  async addFirst(kid: string, key: JsonObject): Promise<JsonObject[]> {
    return this.database.transaction(async (tx) => {
      await tx.query('LOCK TABLE mcp.oauth_keys IN SHARE ROW EXCLUSIVE MODE');
      const found = await this.all(tx);
      if (found.length > 0) return found;
      const sealed = this.vault.seal(JSON.stringify(key), placeOf(kid));
      await tx.query('INSERT INTO mcp.oauth_keys (kid, key) VALUES ($1, $2)', [kid, sealed]);
      return [key];
    });
  }

  /** Re-encrypts every key with the current credential key. */
  async resealAll(tx: Tx): Promise<void> {
    const rows = await tx.query<{ kid: string; key: unknown }[]>(
      'SELECT kid, key FROM mcp.oauth_keys FOR UPDATE',
    );
    for (const { kid, key } of rows) {
      const sealed = this.vault.seal(JSON.stringify(this.open(kid, key)), placeOf(kid));
      await tx.query('UPDATE mcp.oauth_keys SET key = $2 WHERE kid = $1', [kid, sealed]);
    }
  }

  private open(kid: string, sealed: unknown): JsonObject {
    const key: unknown = JSON.parse(this.vault.open(sealed, placeOf(kid)));
    return isJsonObject(key) ? key : {};
  }
}

function placeOf(kid: string) {
  return { table: 'oauth_keys', row: kid, field: 'key' };
}
