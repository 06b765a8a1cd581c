import { Injectable } from '@nestjs/common';
import { Database, isJsonObject, type JsonObject, type Tx } from '@app/platform';
import { z } from 'zod';
import { CredentialVault } from './credential-vault.js';
import type { Place } from './vault.js';

/** The pending consent: a page where a person has to approve access. */
export interface AuthorizationQuestion {
  readonly url: string;
  /** Expiry, milliseconds since 1970. */
  readonly until: number;
}

export interface StoredAuthorization {
  /** Tokens and other secrets; only the OAuth code reads its members. */
  readonly state: JsonObject;
  /** A person has to consent. */
  readonly needed: boolean;
  readonly question: AuthorizationQuestion | null;
}

/** OAuth state per server, encrypted. Deleted with the server (ON DELETE CASCADE). */
@Injectable()
export class AuthorizationStore {
  constructor(
    private readonly database: Database,
    private readonly vault: CredentialVault,
  ) {}

  async load(
    serverId: string,
    tx: Tx = this.database.direct,
  ): Promise<StoredAuthorization | undefined> {
    const [row] = await tx.query<Row[]>(
      'SELECT state, needed FROM mcp.server_authorizations WHERE server_id = $1',
      [serverId],
    );
    if (!row || row.state === null) return undefined;
    return { ...this.open(serverId, row.state), needed: row.needed };
  }

  /** The servers among these for which a person has to log in. */
  async waitingForLogin(serverIds: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await this.database.direct.query<{ id: string }[]>(
      'SELECT server_id AS id FROM mcp.server_authorizations WHERE needed AND server_id = ANY($1)',
      [serverIds],
    );
    return new Set(rows.map(({ id }) => id));
  }

  /** `questionHash` finds the server when the OAuth callback arrives. Does nothing if the server has been removed. */
  async save(
    serverId: string,
    {
      needed,
      questionHash,
      ...sealed
    }: StoredAuthorization & { readonly questionHash: string | null },
  ): Promise<void> {
    await this.database.direct.query(
      `INSERT INTO mcp.server_authorizations (server_id, state, needed, question_hash)
       SELECT id, $2, $3, $4 FROM mcp.external_servers WHERE id = $1
       ON CONFLICT (server_id) DO UPDATE SET state = excluded.state, needed = excluded.needed,
         question_hash = excluded.question_hash, updated_at = now()`,
      [serverId, this.seal(serverId, sealed), needed, questionHash],
    );
  }

  async serverAskedWith(questionHash: string): Promise<string | undefined> {
    const [row] = await this.database.direct.query<{ id: string }[]>(
      'SELECT server_id AS id FROM mcp.server_authorizations WHERE question_hash = $1',
      [questionHash],
    );
    return row?.id;
  }

  /** Ids of the servers that need a person to authorize them. */
  async needed(): Promise<ReadonlySet<string>> {
    const rows = await this.database.direct.query<{ id: string }[]>(
      'SELECT server_id AS id FROM mcp.server_authorizations WHERE needed',
    );
    return new Set(rows.map(({ id }) => id));
  }

  /**
   * Returns false while another process holds the lock. The lock expires by time: a transaction lock would keep a
   * transaction open during requests to the authorization server.
   */
  async hold(serverId: string, seconds: number): Promise<boolean> {
    const held = await this.database.direct.query<unknown[]>(
      `INSERT INTO mcp.server_authorizations AS held (server_id, held_until)
       SELECT id, now() + make_interval(secs => $2) FROM mcp.external_servers WHERE id = $1
       ON CONFLICT (server_id) DO UPDATE SET held_until = excluded.held_until
       WHERE held.held_until IS NULL OR held.held_until < now()
       RETURNING server_id`,
      [serverId, seconds],
    );
    return held.length > 0;
  }

  async release(serverId: string): Promise<void> {
    await this.database.direct.query(
      'UPDATE mcp.server_authorizations SET held_until = NULL WHERE server_id = $1',
      [serverId],
    );
  }

  /** Re-encrypts every row with the current key. */
  async resealAll(tx: Tx): Promise<void> {
    const rows = await tx.query<(Row & { server_id: string })[]>(
      'SELECT server_id, state FROM mcp.server_authorizations WHERE state IS NOT NULL FOR UPDATE',
    );
    for (const { server_id: id, state } of rows) {
      await tx.query('UPDATE mcp.server_authorizations SET state = $2 WHERE server_id = $1', [
        id,
        this.seal(id, this.open(id, state)),
      ]);
    }
  }

  /** Secret values that must be redacted from messages. */
  async secrets(serverId: string, tx?: Tx): Promise<string[]> {
    const stored = await this.load(serverId, tx);
    return stored ? secretsIn(stored.state) : [];
  }

  private seal(serverId: string, sealed: Sealed): object {
    return this.vault.seal(JSON.stringify(sealed), placeOf(serverId));
  }

  private open(serverId: string, envelope: unknown): Sealed {
    const text = this.vault.open(envelope, placeOf(serverId));
    const { state, question } = sealedSchema.parse(JSON.parse(text));
    return { state: isJsonObject(state) ? state : {}, question };
  }
}

type Sealed = Pick<StoredAuthorization, 'state' | 'question'>;

const sealedSchema = z.object({
  state: z.unknown(),
  question: z.object({ url: z.string(), until: z.number() }).nullable(),
});

/** Selects secrets by their OAuth member names. */
function secretsIn(state: JsonObject): string[] {
  return Object.entries(state).flatMap(([name, value]) => {
    if (isJsonObject(value)) return secretsIn(value);
    return typeof value === 'string' && /(?:token|secret|verifier)$/.test(name) ? [value] : [];
  });
}

interface Row {
  readonly state: unknown;
  readonly needed: boolean;
}

function placeOf(serverId: string): Place {
  return { table: 'server_authorizations', row: serverId, field: 'state' };
}
