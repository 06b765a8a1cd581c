import { Injectable } from '@nestjs/common';
import { Database, type Tx } from '@app/platform';

/** What a code logs in as. */
export interface LoginCode {
  /** SHA-256 of the code, in hex. */
  readonly codeHash: string;
  /** SHA-256 in hex of the token of the caller who asked for the link. */
  readonly tokenHash: string;
  /** End of the session of a browser that asked for the link; null when a token asked. */
  readonly sessionEndsBy: Date | null;
}

/** Open links of one token; a further one closes the oldest. */
const MAX_CODES_OF_TOKEN = 5;

/** The rows of `mcp.login_codes`. */
@Injectable()
export class LoginCodeStore {
  constructor(private readonly database: Database) {}

  /** Returns when the code expires, by the clock of the database. */
  async insert({ codeHash, tokenHash, sessionEndsBy }: LoginCode, tx: Tx): Promise<Date> {
    const [row] = await tx.query<{ expiresAt: Date }[]>(
      `INSERT INTO mcp.login_codes (code_hash, token_hash, created_at, expires_at, session_ends_by)
       VALUES ($1, $2, now(), now() + interval '10 minutes', $3) RETURNING expires_at AS "expiresAt"`,
      [codeHash, tokenHash, sessionEndsBy],
    );
    if (!row) throw new Error('INSERT … RETURNING gave no row');
    await tx.query(
      `DELETE FROM mcp.login_codes WHERE code_hash IN
         (SELECT code_hash FROM mcp.login_codes WHERE token_hash = $1
          ORDER BY created_at DESC, code_hash OFFSET $2)`,
      [tokenHash, MAX_CODES_OF_TOKEN],
    );
    return row.expiresAt;
  }

  /** Undefined when it was used, has expired or never existed. */
  async find(codeHash: string): Promise<LoginCode | undefined> {
    const [code] = await this.database.direct.query<LoginCode[]>(
      `SELECT code_hash AS "codeHash", token_hash AS "tokenHash", session_ends_by AS "sessionEndsBy"
       FROM mcp.login_codes WHERE code_hash = $1 AND expires_at > now()`,
      [codeHash],
    );
    return code;
  }

  /** True for one caller only. */
  async use(codeHash: string, tx: Tx): Promise<boolean> {
    const [, deleted] = await tx.query<[unknown, number]>(
      'DELETE FROM mcp.login_codes WHERE code_hash = $1 AND expires_at > now()',
      [codeHash],
    );
    return deleted > 0;
  }

  async deleteExpired(): Promise<void> {
    await this.database.background.direct.query(
      'DELETE FROM mcp.login_codes WHERE expires_at <= now()',
    );
  }
}
