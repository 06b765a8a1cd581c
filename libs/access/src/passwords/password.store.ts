import { Injectable } from '@nestjs/common';
import { Database, type Tx } from '@app/platform';

/** What a login with a password is decided by. */
export interface PasswordOwner {
  readonly tokenId: string;
  readonly name: string;
  /** Of the secret of the token now. */
  readonly tokenHash: string;
  readonly passwordHash: string | null;
  readonly isLocked: boolean;
}

/** Wrong passwords in a row that lock a name, and for how long. */
export const MAX_WRONG_PASSWORDS = 10;
const LOCKED_FOR = `interval '15 minutes'`;
const INVITED_FOR = `interval '24 hours'`;
const OWNER = `token.id AS "tokenId", token.name, token.token_hash AS "tokenHash",
  password_hash AS "passwordHash", coalesce(locked_until > now(), false) AS "isLocked"`;

/** The rows of `mcp.passwords`. The clock of the database decides, so that all replicas agree. */
@Injectable()
export class PasswordStore {
  constructor(private readonly database: Database) {}

  /** An earlier invitation ends; the password stays until another one is chosen. */
  async invite(tokenId: string, invitationHash: string, tx: Tx): Promise<Date> {
    const [row] = await tx.query<{ endsAt: Date }[]>(
      `INSERT INTO mcp.passwords (token_id, invitation_hash, invitation_ends_at)
       VALUES ($1, $2, now() + ${INVITED_FOR})
       ON CONFLICT (token_id) DO UPDATE SET invitation_hash = excluded.invitation_hash,
         invitation_ends_at = excluded.invitation_ends_at
       RETURNING invitation_ends_at AS "endsAt"`,
      [tokenId, invitationHash],
    );
    if (!row) throw new Error('INSERT … RETURNING gave no row');
    return row.endsAt;
  }

  /** Undefined if it was used, has expired or never existed. */
  async invited(invitationHash: string): Promise<PasswordOwner | undefined> {
    const [owner] = await this.database.direct.query<PasswordOwner[]>(
      `SELECT ${OWNER} FROM mcp.passwords JOIN mcp.issued_tokens AS token ON token.id = token_id
       WHERE invitation_hash = $1 AND invitation_ends_at > now()`,
      [invitationHash],
    );
    return owner;
  }

  /** Whether anyone has one. */
  async exist(): Promise<boolean> {
    const [row] = await this.database.direct.query<{ found: boolean }[]>(
      'SELECT EXISTS (SELECT 1 FROM mcp.passwords WHERE password_hash IS NOT NULL) AS found',
    );
    return row?.found === true;
  }

  /** True for one caller only. */
  async accept(invitationHash: string, passwordHash: string, tx: Tx): Promise<boolean> {
    const [, changed] = await tx.query<[unknown, number]>(
      `UPDATE mcp.passwords SET password_hash = $2, invitation_hash = NULL,
         invitation_ends_at = NULL, failures = 0, locked_until = NULL
       WHERE invitation_hash = $1 AND invitation_ends_at > now()`,
      [invitationHash, passwordHash],
    );
    return changed > 0;
  }

  async named(name: string): Promise<PasswordOwner | undefined> {
    const [owner] = await this.database.direct.query<PasswordOwner[]>(
      `SELECT ${OWNER} FROM mcp.passwords JOIN mcp.issued_tokens AS token ON token.id = token_id
       WHERE token.name = $1`,
      [name],
    );
    return owner;
  }

  /** Counted before the password is compared, so that many attempts at once are all counted. */
  async noteAttempt(tokenId: string): Promise<boolean> {
    const [, counted] = await this.database.direct.query<[unknown, number]>(
      `UPDATE mcp.passwords SET failures = CASE WHEN failures + 1 >= $2 THEN 0 ELSE failures + 1 END,
         locked_until = CASE WHEN failures + 1 >= $2 THEN now() + ${LOCKED_FOR} ELSE locked_until END
       WHERE token_id = $1 AND (locked_until IS NULL OR locked_until <= now())`,
      [tokenId, MAX_WRONG_PASSWORDS],
    );
    return counted > 0;
  }

  async noteSuccess(tokenId: string, tx: Tx): Promise<void> {
    await tx.query(
      'UPDATE mcp.passwords SET failures = 0, locked_until = NULL WHERE token_id = $1',
      [tokenId],
    );
  }
}
