import { Injectable } from '@nestjs/common';
import { Database, isJsonObject, type JsonObject, type Tx } from '@app/platform';
import { CredentialVault } from '@app/registry';
import type { SigningKey } from '../keys/signing-key.js';

/** Longer than an access token lives: a replica may sign with the key before until it has read the new one. */
const OVERLAP = `interval '30 minutes'`;
const MAX_KEYS = 10;

/** The rows of `mcp.oauth_keys`: private keys as sealed JWKs, which all replicas sign with. */
@Injectable()
export class KeyStore {
  constructor(
    private readonly database: Database,
    private readonly vault: CredentialVault,
  ) {}

  /** Those that are believed, the one that signs first. */
  async all(tx: Tx = this.database.direct): Promise<JsonObject[]> {
    const rows = await tx.query<{ kid: string; key: unknown }[]>(
      `SELECT kid, key FROM mcp.oauth_keys WHERE ends_at IS NULL OR ends_at > now()
       ORDER BY ends_at DESC NULLS FIRST, created_at DESC, kid`,
    );
    return rows.map(({ kid, key }) => this.open(kid, key));
  }

  /** The keys in use: of replicas that start at the same time only the first adds its own. */
  async addFirst(key: SigningKey): Promise<JsonObject[]> {
    return this.database.transaction(async (tx) => {
      await this.lock(tx);
      const found = await this.all(tx);
      if (found.length > 0) return found;
      await this.insert(key, tx);
      return [key.jwk];
    });
  }

  /** The key that signs from now on; returns until when those before are believed. */
  async replace(key: SigningKey, endsOthers: boolean, tx: Tx): Promise<Date> {
    await this.lock(tx);
    const [row] = await tx.query<{ until: Date }[]>(
      `SELECT now() + CASE WHEN $1 THEN interval '0' ELSE ${OVERLAP} END AS until`,
      [endsOthers],
    );
    if (!row) throw new Error('SELECT gave no row');
    await tx.query('UPDATE mcp.oauth_keys SET ends_at = $1 WHERE ends_at IS NULL OR ends_at > $1', [
      row.until,
    ]);
    // Tokens of one that is ended early are refreshed by their clients.
    await tx.query(
      `DELETE FROM mcp.oauth_keys WHERE kid IN
         (SELECT kid FROM mcp.oauth_keys ORDER BY created_at DESC, kid OFFSET $1)`,
      [MAX_KEYS - 1],
    );
    await this.insert(key, tx);
    return row.until;
  }

  async deleteEnded(): Promise<void> {
    await this.database.background.direct.query(
      'DELETE FROM mcp.oauth_keys WHERE ends_at <= now()',
    );
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

  private async lock(tx: Tx): Promise<void> {
    await tx.query('LOCK TABLE mcp.oauth_keys IN SHARE ROW EXCLUSIVE MODE');
  }

  private async insert({ kid, jwk }: SigningKey, tx: Tx): Promise<void> {
    const sealed = this.vault.seal(JSON.stringify(jwk), placeOf(kid));
    await tx.query('INSERT INTO mcp.oauth_keys (kid, key) VALUES ($1, $2)', [kid, sealed]);
  }

  private open(kid: string, sealed: unknown): JsonObject {
    const key: unknown = JSON.parse(this.vault.open(sealed, placeOf(kid)));
    return isJsonObject(key) ? key : {};
  }
}

function placeOf(kid: string) {
  return { table: 'oauth_keys', row: kid, field: 'key' };
}
