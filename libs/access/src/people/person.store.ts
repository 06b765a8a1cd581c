import { Injectable } from '@nestjs/common';
import { Database, Env, type Tx } from '@app/platform';
import { TooManyAccounts } from '../access.errors.js';
import { MAX_PEOPLE, type ProvedPerson, type ProviderPerson } from './person.js';

const COLUMNS = `id, subject, label, scopes, groups, session_hash AS "sessionHash",
  ends_at AS "endsAt"`;
/** What clients were allowed to do ends later, with the grant: those who log in again have the same account. */
const KEPT_FOR = `interval '30 days'`;

/** The rows of `mcp.people`. The clock of the database decides, so that all replicas agree. */
@Injectable()
export class PersonStore {
  constructor(
    private readonly database: Database,
    private readonly env: Env,
  ) {}

  /** Those who logged in lately at the identity provider that is configured. */
  async alive(): Promise<readonly ProviderPerson[]> {
    const { MCP_AGGREGATOR_LOGIN_ISSUER: issuer } = this.env;
    if (issuer === undefined) return [];
    return this.database.background.direct.query<ProviderPerson[]>(
      `SELECT ${COLUMNS} FROM mcp.people WHERE issuer = $1 AND ends_at > now()`,
      [issuer],
    );
  }

  /** The account of a login, by issuer and subject alone. Throws TooManyAccounts. */
  async noteLogin(
    { issuer, subject, label, scopes, groups }: ProvedPerson,
    { id, sessionHash }: Pick<ProviderPerson, 'id' | 'sessionHash'>,
    tx: Tx,
  ): Promise<ProviderPerson> {
    // Others who log in at the same time wait, so that the limit holds.
    await tx.query('LOCK TABLE mcp.people IN SHARE ROW EXCLUSIVE MODE');
    const days = this.env.MCP_AGGREGATOR_LOGIN_DAYS;
    const [person] = await tx.query<ProviderPerson[]>(
      `INSERT INTO mcp.people (id, issuer, subject, label, scopes, groups, session_hash, ends_at)
       SELECT $1::uuid, $2::text, $3::text, $4::text, $5::text[], $6::text[], $7::text,
         now() + make_interval(days => $8::int)
       WHERE (SELECT count(*) FROM mcp.people) < $9::int
          OR EXISTS (SELECT 1 FROM mcp.people WHERE issuer = $2 AND subject = $3)
       ON CONFLICT (issuer, subject) DO UPDATE SET label = excluded.label, scopes = excluded.scopes,
         groups = excluded.groups, ends_at = excluded.ends_at, last_login_at = now()
       RETURNING ${COLUMNS}`,
      [id, issuer, subject, label, scopes, groups, sessionHash, days, MAX_PEOPLE],
    );
    if (!person) throw new TooManyAccounts(MAX_PEOPLE);
    return person;
  }

  /** False when there was none. */
  async delete(issuer: string, subject: string, tx: Tx): Promise<boolean> {
    const [, deleted] = await tx.query<[unknown, number]>(
      'DELETE FROM mcp.people WHERE issuer = $1 AND subject = $2',
      [issuer, subject],
    );
    return deleted > 0;
  }

  async deleteExpired(): Promise<void> {
    await this.database.background.direct.query(
      `DELETE FROM mcp.people WHERE ends_at <= now() - ${KEPT_FOR}`,
    );
  }
}
