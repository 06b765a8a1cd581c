import { Injectable } from '@nestjs/common';
import { Database, isJsonObject, type JsonObject, type Tx } from '@app/platform';
import { CredentialVault } from '@app/registry';
import { createHash } from 'node:crypto';

/** Of a client, code, token or consent in progress, as the authorization server keeps it. */
export interface OAuthRecord {
  readonly payload: JsonObject;
  readonly consumedAt: Date | null;
}

/** Clients that registered by themselves; no client that is used is removed to make room. */
const MAX_CLIENTS = 1_000;

interface Row {
  readonly payload: unknown;
  readonly consumedAt: Date | null;
}

/**
 * The rows of `mcp.oauth_records`. Ids are codes and refresh tokens: only their hashes are stored, and what belongs to
 * them is sealed.
 */
@Injectable()
export class RecordStore {
  constructor(
    private readonly database: Database,
    private readonly vault: CredentialVault,
  ) {}

  async save(
    kind: string,
    id: string,
    payload: JsonObject,
    seconds: number | undefined,
    tx: Tx = this.database.direct,
  ): Promise<void> {
    const idHash = hashOf(id);
    const { grantId } = payload;
    await tx.query(
      `INSERT INTO mcp.oauth_records (kind, id_hash, grant_id, payload, expires_at)
       VALUES ($1, $2, $3, $4, now() + make_interval(secs => $5))
       ON CONFLICT (kind, id_hash) DO UPDATE SET grant_id = excluded.grant_id,
         payload = excluded.payload, expires_at = excluded.expires_at`,
      [
        kind,
        idHash,
        typeof grantId === 'string' ? grantId : null,
        this.seal(kind, idHash, payload),
        seconds ?? null,
      ],
    );
  }

  /** False when there are too many. */
  async saveClient(id: string, payload: JsonObject): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      // Others that register at the same time wait, so that the limit holds.
      await tx.query('LOCK TABLE mcp.oauth_records IN SHARE ROW EXCLUSIVE MODE');
      const [found] = await tx.query<{ count: number }[]>(
        `SELECT count(*)::int AS count FROM mcp.oauth_records WHERE kind = 'Client'`,
      );
      if ((found?.count ?? 0) >= MAX_CLIENTS) return false;
      await this.save('Client', id, payload, undefined, tx);
      return true;
    });
  }

  async find(kind: string, id: string): Promise<OAuthRecord | undefined> {
    const idHash = hashOf(id);
    const [row] = await this.database.direct.query<Row[]>(
      `SELECT payload, consumed_at AS "consumedAt" FROM mcp.oauth_records
       WHERE kind = $1 AND id_hash = $2 AND (expires_at IS NULL OR expires_at > now())`,
      [kind, idHash],
    );
    return row && { payload: this.open(kind, idHash, row.payload), consumedAt: row.consumedAt };
  }

  /** False if it was used before: of two requests at once only one gets true. */
  async consume(kind: string, id: string): Promise<boolean> {
    const [, consumed] = await this.database.direct.query<[unknown, number]>(
      `UPDATE mcp.oauth_records SET consumed_at = now()
       WHERE kind = $1 AND id_hash = $2 AND consumed_at IS NULL`,
      [kind, hashOf(id)],
    );
    return consumed > 0;
  }

  async delete(kind: string, id: string): Promise<void> {
    await this.database.direct.query(
      'DELETE FROM mcp.oauth_records WHERE kind = $1 AND id_hash = $2',
      [kind, hashOf(id)],
    );
  }

  async deleteOfGrant(grantId: string, tx: Tx): Promise<void> {
    await tx.query('DELETE FROM mcp.oauth_records WHERE grant_id = $1', [grantId]);
    await tx.query(`DELETE FROM mcp.oauth_records WHERE kind = 'Grant' AND id_hash = $1`, [
      hashOf(grantId),
    ]);
  }

  /** What has expired, and clients that no person gave access to within a day. */
  async deleteUnused(): Promise<void> {
    const { direct } = this.database.background;
    await direct.query('DELETE FROM mcp.oauth_records WHERE expires_at <= now()');
    await direct.query(
      `DELETE FROM mcp.oauth_records AS client
       WHERE kind = 'Client' AND created_at < now() - interval '24 hours'
         AND NOT EXISTS (SELECT 1 FROM mcp.oauth_grants AS given WHERE given.client_hash = client.id_hash)`,
    );
  }

  /** Re-encrypts every payload with the current key. */
  async resealAll(tx: Tx): Promise<void> {
    const rows = await tx.query<{ kind: string; id_hash: string; payload: unknown }[]>(
      'SELECT kind, id_hash, payload FROM mcp.oauth_records FOR UPDATE',
    );
    for (const { kind, id_hash: idHash, payload } of rows) {
      const sealed = this.seal(kind, idHash, this.open(kind, idHash, payload));
      await tx.query('UPDATE mcp.oauth_records SET payload = $3 WHERE kind = $1 AND id_hash = $2', [
        kind,
        idHash,
        sealed,
      ]);
    }
  }

  private seal(kind: string, idHash: string, payload: JsonObject): object {
    return this.vault.seal(JSON.stringify(payload), placeOf(kind, idHash));
  }

  private open(kind: string, idHash: string, sealed: unknown): JsonObject {
    const payload: unknown = JSON.parse(this.vault.open(sealed, placeOf(kind, idHash)));
    return isJsonObject(payload) ? payload : {};
  }
}

export function hashOf(id: string): string {
  return createHash('sha256').update(id).digest('hex');
}

function placeOf(kind: string, idHash: string) {
  return { table: 'oauth_records', row: `${kind} ${idHash}`, field: 'payload' };
}
