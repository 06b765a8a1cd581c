import { Injectable } from '@nestjs/common';
import { Database, Env, type Tx } from '@app/platform';
import { createHash } from 'node:crypto';
import { subjectIn } from '../authenticate/principal.js';
import { PersonNotFound, TooManyAccounts } from '../access.errors.js';
import { type ListedPerson, MAX_PEOPLE, type ProvedPerson, type ProviderPerson } from './person.js';

/** What clients were allowed to do ends later, with the grant: those who log in again have the same account. */
const KEPT_FOR = `interval '30 days'`;

/** The rows of `mcp.people`. The clock of the database decides, so that all replicas agree. */
@Injectable()
export class PersonStore {
  /** Of the settings that decide what someone may do: who logged in with others has to log in again. */
  private readonly rulesHash: string;

  constructor(
    private readonly database: Database,
    private readonly env: Env,
  ) {
    const deciding = [
      env.MCP_AGGREGATOR_LOGIN_ROLES,
      env.MCP_AGGREGATOR_LOGIN_DOMAINS,
      env.MCP_AGGREGATOR_JWT_ROLES_CLAIM,
      env.MCP_AGGREGATOR_JWT_GROUPS_CLAIM,
    ];
    this.rulesHash = createHash('sha256').update(JSON.stringify(deciding)).digest('hex');
  }

  /** Those who logged in lately, with these settings, at the identity provider that is configured. */
  /** For `RowWatches`: differs when `alive` does. */
  get mark(): string {
    const { MCP_AGGREGATOR_LOGIN_ISSUER: issuer, MCP_AGGREGATOR_LOGIN_DAYS: days } = this.env;
    if (issuer === undefined) return "SELECT ''";
    return `SELECT md5(string_agg(person::text, ',' ORDER BY id)) FROM mcp.people AS person
      WHERE ${endsBy(String(days))} > now()`;
  }

  async alive(): Promise<readonly ProviderPerson[]> {
    const { MCP_AGGREGATOR_LOGIN_ISSUER: issuer, MCP_AGGREGATOR_LOGIN_DAYS: days } = this.env;
    if (issuer === undefined) return [];
    return this.database.background.direct.query<ProviderPerson[]>(
      `SELECT ${columnsWith('$3')} FROM mcp.people
       WHERE issuer = $1 AND rules_hash = $2 AND ${endsBy('$3')} > now()`,
      [issuer, this.rulesHash, days],
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
    const { rulesHash } = this;
    const days = this.env.MCP_AGGREGATOR_LOGIN_DAYS;
    const [person] = await tx.query<ProviderPerson[]>(
      `INSERT INTO mcp.people (id, issuer, subject, label, scopes, groups, session_hash, ends_at,
         rules_hash)
       SELECT $1::uuid, $2::text, $3::text, $4::text, $5::text[], $6::text[], $7::text,
         now() + make_interval(days => $8::int), $10::text
       WHERE (SELECT count(*) FROM mcp.people) < $9::int
          OR EXISTS (SELECT 1 FROM mcp.people WHERE issuer = $2 AND subject = $3)
       ON CONFLICT (issuer, subject) DO UPDATE SET label = excluded.label, scopes = excluded.scopes,
         groups = excluded.groups, ends_at = excluded.ends_at, last_login_at = now(),
         rules_hash = excluded.rules_hash
       RETURNING ${columnsWith('$8')}`,
      [...[id, issuer, subject, label, scopes, groups, sessionHash, days], MAX_PEOPLE, rulesHash],
    );
    if (!person) throw new TooManyAccounts(MAX_PEOPLE);
    return person;
  }

  /** The start of the subjects of people who need an account here; undefined if their JWTs alone are accepted too. */
  get accountPrefix(): string | undefined {
    const { MCP_AGGREGATOR_LOGIN_ISSUER: issuer, MCP_AGGREGATOR_JWKS_URL: jwks } = this.env;
    return issuer === undefined || jwks !== undefined ? undefined : subjectIn('jwt', '', issuer);
  }

  /** Which of these subjects, which start so, have no account any more. */
  async withoutAccount(subjects: readonly string[]): Promise<string[]> {
    const prefix = this.accountPrefix;
    const { MCP_AGGREGATOR_LOGIN_ISSUER: issuer } = this.env;
    if (prefix === undefined) return [];
    const { direct } = this.database.background;
    const rows = await direct.query<{ subject: string }[]>(
      'SELECT subject FROM mcp.people WHERE issuer = $1',
      [issuer],
    );
    const known = new Set(rows.map(({ subject }) => prefix + subject));
    return subjects.filter((subject) => subject.startsWith(prefix) && !known.has(subject));
  }

  /** Of all issuers. */
  async list({
    limit,
    offset,
  }: Record<'limit' | 'offset', number>): Promise<{ people: ListedPerson[]; total: number }> {
    const { MCP_AGGREGATOR_LOGIN_ISSUER: issuer, MCP_AGGREGATOR_LOGIN_DAYS: days } = this.env;
    const { direct } = this.database;
    const [people, [count]] = await Promise.all([
      direct.query<ListedPerson[]>(
        `SELECT id, issuer, subject, label, scopes, groups, created_at AS "createdAt",
           last_login_at AS "lastLoginAt", ${endsBy('$3')} AS "endsAt",
           coalesce(issuer = $1 AND rules_hash = $2 AND ${endsBy('$3')} > now(), false) AS "isActive"
         FROM mcp.people ORDER BY last_login_at DESC, id LIMIT $4 OFFSET $5`,
        [issuer ?? null, this.rulesHash, days, limit, offset],
      ),
      direct.query<{ total: number }[]>('SELECT count(*)::int AS total FROM mcp.people'),
    ]);
    return { people, total: count?.total ?? 0 };
  }

  /** The id of the account; undefined when there was none. */
  async delete(issuer: string, subject: string, tx: Tx): Promise<string | undefined> {
    const [rows] = await tx.query<[{ id: string }[], number]>(
      'DELETE FROM mcp.people WHERE issuer = $1 AND subject = $2 RETURNING id',
      [issuer, subject],
    );
    return rows[0]?.id;
  }

  /** Throws PersonNotFound. */
  async deleteById(
    id: string,
    tx: Tx,
  ): Promise<Pick<ProvedPerson, 'issuer' | 'subject' | 'label'>> {
    const [[person]] = await tx.query<
      [Pick<ProvedPerson, 'issuer' | 'subject' | 'label'>[], number]
    >('DELETE FROM mcp.people WHERE id = $1 RETURNING issuer, subject, label', [id]);
    if (!person) throw new PersonNotFound(id);
    return person;
  }

  async deleteExpired(): Promise<void> {
    await this.database.background.direct.query(
      `DELETE FROM mcp.people WHERE ends_at <= now() - ${KEPT_FOR}`,
    );
  }
}

/** Fewer days than at the login count at once. */
function endsBy(days: string): string {
  return `least(ends_at, last_login_at + make_interval(days => ${days}::int))`;
}

function columnsWith(days: string): string {
  return `id, subject, label, scopes, groups, session_hash AS "sessionHash", ${endsBy(days)} AS "endsAt"`;
}
