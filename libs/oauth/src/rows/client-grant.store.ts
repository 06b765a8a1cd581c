import { Injectable } from '@nestjs/common';
import { Database, type PageQuery, type Tx } from '@app/platform';
import {
  type ClientGrant,
  GRANT_IDLE_DAYS,
  MAX_GRANTS_OF_ACCOUNT,
} from '../grants/client-grant.js';
import { ClientGrantNotFound } from '../oauth.errors.js';
import { hashOf } from './record.store.js';

const COLUMNS = `id, account, person, scopes, resource, created_at AS "createdAt",
  last_used_at AS "lastUsedAt", expires_at AS "expiresAt",
  json_build_object('id', client_id, 'name', client_name, 'domain', client_domain,
                    'redirectHost', redirect_host) AS client`;
const ALIVE = 'expires_at > now()';
const IDLE = `interval '${GRANT_IDLE_DAYS} days'`;

export type NewClientGrant = Omit<ClientGrant, 'createdAt' | 'lastUsedAt' | 'expiresAt'>;
/** Of the accounts of a person; if an OAuth client asks for the person, its own. */
export interface GrantsOf {
  readonly accounts: readonly string[];
  /** The hash of its id. */
  readonly client: string | undefined;
}

const OF = '($1::text[] IS NULL OR account = ANY($1)) AND ($2::text IS NULL OR client_hash = $2)';

/** What a request is decided by. */
export type LiveGrant = Pick<ClientGrant, 'id' | 'account' | 'scopes'>;

/** The rows of `mcp.oauth_grants`. */
@Injectable()
export class ClientGrantStore {
  constructor(private readonly database: Database) {}

  alive(): Promise<LiveGrant[]> {
    return this.database.background.direct.query(
      `SELECT id, account, scopes FROM mcp.oauth_grants WHERE ${ALIVE}`,
    );
  }

  async aliveWith(id: string): Promise<LiveGrant | undefined> {
    const [grant] = await this.database.direct.query<LiveGrant[]>(
      `SELECT id, account, scopes FROM mcp.oauth_grants WHERE id = $1 AND ${ALIVE}`,
      [id],
    );
    return grant;
  }

  /** The newest first; without `of` those of everyone. */
  async list(
    of: GrantsOf | undefined,
    { limit, offset }: PageQuery,
  ): Promise<{ grants: ClientGrant[]; total: number }> {
    const where = `WHERE ${ALIVE} AND ${OF}`;
    const whose = [of?.accounts ?? null, of?.client ?? null];
    const { direct } = this.database;
    const [grants, [count]] = await Promise.all([
      direct.query<ClientGrant[]>(
        `SELECT ${COLUMNS} FROM mcp.oauth_grants ${where}
         ORDER BY created_at DESC, id LIMIT $3 OFFSET $4`,
        [...whose, limit, offset],
      ),
      direct.query<{ total: number }[]>(
        `SELECT count(*)::int AS total FROM mcp.oauth_grants ${where}`,
        whose,
      ),
    ]);
    return { grants, total: count?.total ?? 0 };
  }

  /** Locked until the transaction ends. Throws ClientGrantNotFound, also for a grant of others if `of` is given. */
  async lock(id: string, of: GrantsOf | undefined, tx: Tx): Promise<ClientGrant> {
    const [grant] = await tx.query<ClientGrant[]>(
      `SELECT ${COLUMNS} FROM mcp.oauth_grants
       WHERE ${OF} AND id = $3 AND ${ALIVE} FOR UPDATE`,
      [of?.accounts ?? null, of?.client ?? null, id],
    );
    if (!grant) throw new ClientGrantNotFound(id);
    return grant;
  }

  /** Whether the account gave this client at least as much before. */
  async isCovered({
    account,
    client,
    scopes,
    resource,
  }: Pick<NewClientGrant, 'account' | 'scopes' | 'resource'> & {
    readonly client: Pick<NewClientGrant['client'], 'id' | 'redirectHost'>;
  }): Promise<boolean> {
    const rows = await this.database.direct.query<unknown[]>(
      `SELECT 1 FROM mcp.oauth_grants
       WHERE account = $1 AND client_hash = $2 AND redirect_host = $3 AND resource = $4
         AND scopes @> $5::text[] AND ${ALIVE} LIMIT 1`,
      [account, hashOf(client.id), client.redirectHost, resource, scopes],
    );
    return rows.length > 0;
  }

  /** Returns the ids of grants that ended because the account has too many. */
  async insert(grant: NewClientGrant, tx: Tx): Promise<readonly string[]> {
    const { id, account, person, client, scopes, resource } = grant;
    await tx.query(
      `INSERT INTO mcp.oauth_grants (id, account, person, client_id, client_hash, client_name,
         client_domain, redirect_host, scopes, resource, expires_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, now() + ${IDLE})`,
      [
        id,
        account,
        person,
        client.id,
        hashOf(client.id),
        client.name,
        client.domain,
        client.redirectHost,
        scopes,
        resource,
      ],
    );
    const [ended] = await tx.query<[{ id: string }[], number]>(
      `DELETE FROM mcp.oauth_grants WHERE id IN
         (SELECT id FROM mcp.oauth_grants WHERE account = $1
          ORDER BY coalesce(last_used_at, created_at) DESC, id OFFSET $2) RETURNING id`,
      [account, MAX_GRANTS_OF_ACCOUNT],
    );
    return ended.map((row) => row.id);
  }

  /** Its client came back for another token. */
  async noteUse(id: string): Promise<void> {
    await this.database.direct.query(
      `UPDATE mcp.oauth_grants SET last_used_at = now(), expires_at = now() + ${IDLE} WHERE id = $1`,
      [id],
    );
  }

  /** Those that an account gave a client; returns their ids. */
  async deleteOfClient(account: string, clientId: string, tx: Tx): Promise<readonly string[]> {
    const [ended] = await tx.query<[{ id: string }[], number]>(
      'DELETE FROM mcp.oauth_grants WHERE account = $1 AND client_hash = $2 RETURNING id',
      [account, hashOf(clientId)],
    );
    return ended.map((row) => row.id);
  }

  async delete(id: string, tx: Tx): Promise<void> {
    await tx.query('DELETE FROM mcp.oauth_grants WHERE id = $1', [id]);
  }

  async deleteExpired(): Promise<void> {
    await this.database.background.direct.query(`DELETE FROM mcp.oauth_grants WHERE NOT ${ALIVE}`);
  }
}
