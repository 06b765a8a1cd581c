import { Injectable } from '@nestjs/common';
import { Database, isJsonObject, type JsonObject, type Tx } from '@app/platform';
import { z } from 'zod';
import { CredentialVault } from './credential-vault.js';
import type { Place } from './vault.js';

/** What a person is asked: to open a page and to consent there. */
export interface AuthorizationQuestion {
  readonly url: string;
  /** Milliseconds since 1970. */
  readonly until: number;
}

export interface StoredAuthorization {
  /** Tokens and other secrets; whoever speaks OAuth knows what is in it. */
  readonly state: JsonObject;
  /** A person has to consent. */
  readonly needed: boolean;
  readonly question: AuthorizationQuestion | null;
}

/** What OAuth brought for each server, sealed. Goes with the row of its server. */
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

  /** `questionHash` finds the server again when the answer to its question comes. Nothing happens once the server is gone. */
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

  /** How many servers wait for a person. */
  async countNeeded(): Promise<number> {
    const [row] = await this.database.direct.query<{ count: number }[]>(
      'SELECT count(*)::int AS count FROM mcp.server_authorizations WHERE needed',
    );
    return row?.count ?? 0;
  }

  /**
   * False while another process has it. A lock that ends by itself, because a transaction would have to
   * stay open while servers are asked.
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

  /** Seals every row again with the current key. */
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

  /** Values that must not reach a message. */
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

/** By the names that OAuth gives them. */
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
