import { Injectable } from '@nestjs/common';
import { Database, type PageQuery, type TokenScope, type Tx } from '@app/platform';
import { TokenNameTaken, TokenNotFound, TooManyTokens } from '../access.errors.js';
import type { PinnedView } from '../authenticate/principal.js';
import { type IssuedToken, MAX_ISSUED_TOKENS } from './issued-token.js';

/** A token of a list: one that was issued, or one of the configuration, which has no id. */
export interface ListedToken {
  readonly id: string | null;
  readonly name: string;
  readonly scopes: readonly TokenScope[];
  readonly view: PinnedView | null;
  readonly previousUntil: Date | null;
  readonly createdBy: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly lastUsedAt: Date | null;
}

const VIEW = `CASE WHEN view_id IS NULL THEN NULL
  ELSE json_build_object('viewId', view_id, 'level', view_level) END AS view`;
const COLUMNS = `id, name, scopes, ${VIEW}, token_hash AS hash, previous_hash AS "previousHash",
  previous_until AS "previousUntil", created_by AS "createdBy", created_at AS "createdAt",
  expires_at AS "expiresAt", last_used_at AS "lastUsedAt"`;

const IS_VALID = '(expires_at IS NULL OR expires_at > now())';
/** For `RowWatches`: without the last use, which replicas write all the time. */
export const TOKENS_MARK = `SELECT md5(string_agg((to_jsonb(token) - 'last_used_at')::text, ',' ORDER BY id))
  FROM mcp.issued_tokens AS token WHERE ${IS_VALID}`;

/** The rows of `mcp.issued_tokens`. */
@Injectable()
export class IssuedTokenStore {
  constructor(private readonly database: Database) {}

  /** All that have not expired. */
  valid(): Promise<IssuedToken[]> {
    return this.database.background.direct.query(
      `SELECT ${COLUMNS} FROM mcp.issued_tokens WHERE ${IS_VALID}`,
    );
  }

  /** Beside those of the configuration, by name. */
  async list({ limit, offset }: PageQuery): Promise<{ tokens: ListedToken[]; total: number }> {
    const all = `
      SELECT id, name, scopes, view_id, view_level, previous_until, created_by, created_at, expires_at, last_used_at
      FROM mcp.issued_tokens
      UNION ALL
      SELECT NULL, name, scopes, NULL, NULL, NULL, NULL, created_at, NULL, NULL FROM mcp.api_tokens`;
    const { direct } = this.database;
    const [tokens, [count]] = await Promise.all([
      direct.query<ListedToken[]>(
        `SELECT id, name, scopes, ${VIEW}, previous_until AS "previousUntil", created_by AS "createdBy",
                created_at AS "createdAt", expires_at AS "expiresAt", last_used_at AS "lastUsedAt"
         FROM (${all}) AS tokens ORDER BY name, id LIMIT $1 OFFSET $2`,
        [limit, offset],
      ),
      direct.query<{ total: number }[]>(`SELECT count(*)::int AS total FROM (${all}) AS tokens`),
    ]);
    return { tokens, total: count?.total ?? 0 };
  }

  async get(id: string): Promise<IssuedToken> {
    return this.one(id, this.database.direct, '');
  }

  /** Locked until the transaction ends. */
  async lock(id: string, tx: Tx): Promise<IssuedToken> {
    return this.one(id, tx, 'FOR UPDATE');
  }

  /** Throws TokenNameTaken, also for the name of a configured token, and TooManyTokens. */
  async insert(token: IssuedToken, tx: Tx): Promise<void> {
    // Others that are issued at the same time wait, so that the limit holds.
    await tx.query('LOCK TABLE mcp.issued_tokens IN SHARE ROW EXCLUSIVE MODE');
    const [found] = await tx.query<{ isTaken: boolean; count: number }[]>(
      `SELECT EXISTS (SELECT 1 FROM mcp.api_tokens WHERE name = $1)
           OR EXISTS (SELECT 1 FROM mcp.issued_tokens WHERE name = $1) AS "isTaken",
         (SELECT count(*)::int FROM mcp.issued_tokens) AS count`,
      [token.name],
    );
    if (found?.isTaken) throw new TokenNameTaken(token.name);
    if ((found?.count ?? 0) >= MAX_ISSUED_TOKENS) throw new TooManyTokens(MAX_ISSUED_TOKENS);
    await tx.query(
      `INSERT INTO mcp.issued_tokens (id, name, scopes, token_hash, created_by, created_at, expires_at,
                                      view_id, view_level)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
      [
        token.id,
        token.name,
        token.scopes,
        token.hash,
        token.createdBy,
        token.createdAt,
        token.expiresAt,
        token.view?.viewId ?? null,
        token.view?.level ?? null,
      ],
    );
  }

  /** The hash that was valid before is accepted until then. */
  async replaceHash(id: string, hash: string, previousUntil: Date, tx: Tx): Promise<void> {
    await tx.query(
      `UPDATE mcp.issued_tokens
       SET previous_hash = token_hash, previous_until = $3, token_hash = $2 WHERE id = $1`,
      [id, hash, previousUntil],
    );
  }

  async delete(id: string, tx: Tx): Promise<void> {
    await tx.query('DELETE FROM mcp.issued_tokens WHERE id = $1', [id]);
  }

  async noteUse(ids: readonly string[], at: Date): Promise<void> {
    await this.database.background.direct.query(
      `UPDATE mcp.issued_tokens SET last_used_at = greatest(last_used_at, $2)
       WHERE id = ANY($1::uuid[])`,
      [ids, at],
    );
  }

  private async one(id: string, tx: Tx, lock: '' | 'FOR UPDATE'): Promise<IssuedToken> {
    const [token] = await tx.query<IssuedToken[]>(
      `SELECT ${COLUMNS} FROM mcp.issued_tokens WHERE id = $1 ${lock}`,
      [id],
    );
    if (!token) throw new TokenNotFound(id);
    return token;
  }
}
