import { Injectable } from '@nestjs/common';
import { Database, type Tx } from '@app/platform';
import { type BrowserSession, MAX_SESSIONS_OF_TOKEN } from './browser-session.js';

/** A session as read; `isIdle` when its last use was noted a minute ago or longer. */
export interface ReadSession extends BrowserSession {
  readonly isIdle: boolean;
}

export interface NewSession extends Pick<BrowserSession, 'idHash' | 'tokenHash'> {
  /** No later than this; null for the usual time. */
  readonly endsBy: Date | null;
}

/** The clock of the database decides, so that all replicas agree. */
const EXPIRES = `least(ends_at, last_used_at + interval '12 hours')`;

/** The rows of `mcp.browser_sessions`. */
@Injectable()
export class BrowserSessionStore {
  constructor(private readonly database: Database) {}

  /** Those that are alive. */
  find(idHashes: readonly string[]): Promise<ReadSession[]> {
    return this.database.direct.query(
      `SELECT id_hash AS "idHash", token_hash AS "tokenHash", ${EXPIRES} AS "expiresAt",
              last_used_at < now() - interval '1 minute' AS "isIdle"
       FROM mcp.browser_sessions WHERE id_hash = ANY($1::text[]) AND ${EXPIRES} > now()`,
      [idHashes],
    );
  }

  /** Ends the session of this token that was unused for longest when there are too many. */
  async insert({ idHash, tokenHash, endsBy }: NewSession, tx: Tx): Promise<BrowserSession> {
    const [row] = await tx.query<{ expiresAt: Date }[]>(
      `INSERT INTO mcp.browser_sessions (id_hash, token_hash, created_at, last_used_at, ends_at)
       VALUES ($1, $2, now(), now(), least(now() + interval '7 days', $3)) RETURNING ${EXPIRES} AS "expiresAt"`,
      [idHash, tokenHash, endsBy],
    );
    if (!row) throw new Error('INSERT … RETURNING gave no row');
    await tx.query(
      `DELETE FROM mcp.browser_sessions WHERE id_hash IN
         (SELECT id_hash FROM mcp.browser_sessions WHERE token_hash = $1
          ORDER BY last_used_at DESC, id_hash OFFSET $2)`,
      [tokenHash, MAX_SESSIONS_OF_TOKEN],
    );
    return { idHash, tokenHash, expiresAt: row.expiresAt };
  }

  async noteUse(idHashes: readonly string[]): Promise<void> {
    await this.database.direct.query(
      `UPDATE mcp.browser_sessions SET last_used_at = now() WHERE id_hash = ANY($1::text[])`,
      [idHashes],
    );
  }

  /** False when it was gone already. */
  async delete(idHash: string, tx: Tx): Promise<boolean> {
    const [, deleted] = await tx.query<[unknown, number]>(
      'DELETE FROM mcp.browser_sessions WHERE id_hash = $1',
      [idHash],
    );
    return deleted > 0;
  }

  async deleteExpired(): Promise<void> {
    await this.database.background.direct.query(
      `DELETE FROM mcp.browser_sessions WHERE ${EXPIRES} <= now()`,
    );
  }
}
