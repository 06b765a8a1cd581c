import { Injectable } from '@nestjs/common';
import { Database, isJsonObject, type JsonObject, type Tx } from '@app/platform';
import { CredentialVault } from '@app/registry';
import { createHash } from 'node:crypto';

/** Of a client, code, token or consent in progress, as the authorization server keeps it. */
export interface OAuthRecord {
  readonly payload: JsonObject;
  readonly consumedAt: Date | null;
  /** It was used first within the last seconds, as processes of one client do that share it. */
  readonly isJustUsed: boolean;
}

/** Clients that registered by themselves and that no person gave access to: of all, and of one network. */
const MAX_UNUSED_CLIENTS = 1_000;
const MAX_UNUSED_OF_NETWORK = 100;
/** A person may still decide about one that registered within this time. */
const MAKES_ROOM_AFTER = `interval '15 minutes'`;
const UNUSED = `kind = 'Client'
  AND NOT EXISTS (SELECT 1 FROM mcp.oauth_grants AS given WHERE given.client_hash = client.id_hash)`;
/** The one lock of registrations: any number that nothing else locks. */
const REGISTRATION_LOCK = 7_643_461;
/** Requests of clients that wait for a person; the oldest give way. */
const MAX_INTERACTIONS = 10_000;
/** Used refresh tokens of a grant that are known as used; one before them is unknown, and refused too. */
const MAX_USED_OF_GRANT = 10;
const JUST = `interval '10 seconds'`;
const RESEALED_AT_ONCE = 500;

interface Row {
  readonly payload: unknown;
  readonly consumedAt: Date | null;
  readonly isJustUsed: boolean;
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
    const grantId = kind === 'Grant' ? id : payload['grantId'];
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
    if (kind === 'Interaction') await this.limitInteractions(tx);
  }

  private async limitInteractions(tx: Tx): Promise<void> {
    await tx.query(
      `DELETE FROM mcp.oauth_records WHERE kind = 'Interaction' AND id_hash IN
         (SELECT id_hash FROM mcp.oauth_records WHERE kind = 'Interaction'
          ORDER BY created_at DESC, id_hash OFFSET $1)`,
      [MAX_INTERACTIONS],
    );
  }

  /** False when there are too many that no person gave access to, and none of them makes room. */
  async saveClient(id: string, payload: JsonObject, network: string): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      // Others that register at the same time wait, so that the limits hold.
      await tx.query('SELECT pg_advisory_xact_lock($1)', [REGISTRATION_LOCK]);
      const hasRoom =
        (await this.makeRoom(MAX_UNUSED_OF_NETWORK, network, tx)) &&
        (await this.makeRoom(MAX_UNUSED_CLIENTS, null, tx));
      if (!hasRoom) return false;
      await this.save('Client', id, payload, undefined, tx);
      await tx.query(
        `UPDATE mcp.oauth_records SET network = $2 WHERE kind = 'Client' AND id_hash = $1`,
        [hashOf(id), network],
      );
      return true;
    });
  }

  private async makeRoom(max: number, network: string | null, tx: Tx): Promise<boolean> {
    const unused = `${UNUSED} AND ($1::text IS NULL OR network = $1)`;
    const [found] = await tx.query<{ count: number }[]>(
      `SELECT count(*)::int AS count FROM mcp.oauth_records AS client WHERE ${unused}`,
      [network],
    );
    if ((found?.count ?? 0) < max) return true;
    const [, removed] = await tx.query<[unknown, number]>(
      `DELETE FROM mcp.oauth_records WHERE kind = 'Client' AND id_hash IN
         (SELECT id_hash FROM mcp.oauth_records AS client
          WHERE ${unused} AND created_at < now() - ${MAKES_ROOM_AFTER}
          ORDER BY created_at LIMIT 1)`,
      [network],
    );
    return removed > 0;
  }

  async find(kind: string, id: string): Promise<OAuthRecord | undefined> {
    const idHash = hashOf(id);
    const [row] = await this.database.direct.query<Row[]>(
      `SELECT payload, consumed_at AS "consumedAt",
         coalesce(consumed_at > now() - ${JUST}, false) AS "isJustUsed"
       FROM mcp.oauth_records
       WHERE kind = $1 AND id_hash = $2 AND (expires_at IS NULL OR expires_at > now())`,
      [kind, idHash],
    );
    return row && { ...row, payload: this.open(kind, idHash, row.payload) };
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
  }

  /**
   * What has expired or belongs to a grant that has, clients that no person gave access to within a day, and all but
   * the last used refresh tokens.
   */
  async deleteUnused(): Promise<void> {
    const { direct } = this.database.background;
    await direct.query('DELETE FROM mcp.oauth_records WHERE expires_at <= now()');
    await direct.query(
      `DELETE FROM mcp.oauth_records AS client
       WHERE ${UNUSED} AND created_at < now() - interval '24 hours'`,
    );
    await direct.query(
      `DELETE FROM mcp.oauth_records AS record
       WHERE grant_id IS NOT NULL AND created_at < now() - interval '1 hour'
         AND NOT EXISTS (SELECT 1 FROM mcp.oauth_grants AS given WHERE given.id = record.grant_id)`,
    );
    await direct.query(
      `DELETE FROM mcp.oauth_records WHERE kind = 'RefreshToken' AND id_hash IN
         (SELECT id_hash FROM
            (SELECT id_hash, row_number() OVER (PARTITION BY grant_id ORDER BY consumed_at DESC) AS place
             FROM mcp.oauth_records WHERE kind = 'RefreshToken' AND consumed_at IS NOT NULL) AS used
          WHERE place > $1)`,
      [MAX_USED_OF_GRANT],
    );
  }

  /** Re-encrypts every payload with the current key. */
  async resealAll(tx: Tx): Promise<void> {
    let last = { kind: '', id_hash: '' };
    for (;;) {
      const rows = await tx.query<{ kind: string; id_hash: string; payload: unknown }[]>(
        `SELECT kind, id_hash, payload FROM mcp.oauth_records WHERE (kind, id_hash) > ($1, $2)
         ORDER BY kind, id_hash LIMIT $3 FOR UPDATE`,
        [last.kind, last.id_hash, RESEALED_AT_ONCE],
      );
      await this.reseal(rows, tx);
      const end = rows.at(-1);
      if (!end) return;
      last = end;
    }
  }

  private async reseal(
    rows: readonly { kind: string; id_hash: string; payload: unknown }[],
    tx: Tx,
  ): Promise<void> {
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
