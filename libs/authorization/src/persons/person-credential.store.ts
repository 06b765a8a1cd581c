import { Injectable } from '@nestjs/common';
import type { Person } from '@app/access';
import { Database, isJsonObject, type JsonObject, type Tx } from '@app/platform';
import { CredentialVault, type PersonalValues } from '@app/registry';
import { randomBytes } from 'node:crypto';
import { z } from 'zod';

/** Time for a person to open a link and connect. */
const LINK_TIME = '10 minutes';
/** A link with less time left is replaced by a new one. */
const LINK_TIME_LEFT = '5 minutes';

/** What a person gave for a server; encrypted in its row. */
export interface PersonalState {
  readonly values: PersonalValues;
  /** Of the server when the values were given. */
  readonly destination: string;
  /** Tokens and other secrets; only the OAuth code reads its members. */
  readonly oauth?: JsonObject | undefined;
}

export interface PersonCredential {
  readonly id: string;
  readonly serverId: string;
  readonly subject: string;
  readonly person: string;
  /** Undefined when nothing was given yet. */
  readonly state: PersonalState | undefined;
  /** The person has to connect, for the first time or again. */
  readonly needed: boolean;
  /** Changes with the credentials. */
  readonly generation: string;
  readonly scopes: string | null;
  readonly expiresAt: Date | null;
  readonly connectedAt: Date | null;
}

/** Members that may be listed: no secrets. */
export type ShownCredential = Omit<PersonCredential, 'state'> & { readonly isGiven: boolean };

export interface ConnectLink {
  readonly id: string;
  readonly until: Date;
}

/** The change of a row by OAuth. */
export interface OAuthChange {
  readonly oauth: JsonObject;
  readonly needed: boolean;
  readonly scopes: string | null;
  readonly expiresAt: Date | null;
  readonly questionHash: string | null;
  /** The credentials are new: sessions with others end. */
  readonly isNew: boolean;
}

type Holder = Pick<PersonCredential, 'serverId' | 'subject'>;
/** Of a person whose token is gone. */
export type Forgotten = Holder & Pick<PersonCredential, 'person'>;

const COLUMNS = `id, server_id AS "serverId", subject, person, needed, generation, scopes,
  expires_at AS "expiresAt", connected_at AS "connectedAt"`;

/** The rows of `mcp.person_credentials`. Deleted with the server (ON DELETE CASCADE). */
@Injectable()
export class PersonCredentialStore {
  constructor(
    private readonly database: Database,
    private readonly vault: CredentialVault,
  ) {}

  async load(holder: Holder, tx: Tx = this.database.direct): Promise<PersonCredential | undefined> {
    const rows = await tx.query<Row[]>(
      `SELECT ${COLUMNS}, state FROM mcp.person_credentials WHERE server_id = $1 AND subject = $2`,
      [holder.serverId, holder.subject],
    );
    return rows[0] && this.opened(rows[0]);
  }

  /** Undefined when there are no credentials to use. */
  async generation({ serverId, subject }: Holder): Promise<string | undefined> {
    const [row] = await this.database.direct.query<{ generation: string }[]>(
      `SELECT generation FROM mcp.person_credentials
       WHERE server_id = $1 AND subject = $2 AND NOT needed`,
      [serverId, subject],
    );
    return row?.generation;
  }

  /** Of the credentials that may be used, by subject. */
  async generations(
    serverId: string,
    subjects: readonly string[],
  ): Promise<ReadonlyMap<string, string>> {
    const rows = await this.database.background.direct.query<
      { subject: string; generation: string }[]
    >(
      `SELECT subject, generation FROM mcp.person_credentials
       WHERE server_id = $1 AND subject = ANY($2) AND NOT needed`,
      [serverId, subjects],
    );
    return new Map(rows.map(({ subject, generation }) => [subject, generation]));
  }

  /** Subjects of all who have given something for a server, usable or not. */
  async givenFor(serverId: string): Promise<string[]> {
    const rows = await this.database.background.direct.query<{ subject: string }[]>(
      'SELECT subject FROM mcp.person_credentials WHERE server_id = $1 AND state IS NOT NULL',
      [serverId],
    );
    return rows.map(({ subject }) => subject);
  }

  ofPerson(subject: string): Promise<ShownCredential[]> {
    return this.shown('subject = $1', subject);
  }

  /** Those that a person has given at some time, by name. */
  ofServer(serverId: string): Promise<ShownCredential[]> {
    return this.shown('state IS NOT NULL AND server_id = $1', serverId);
  }

  /** Replaces the values; other credentials of the person for that server stay. */
  async putValues(
    serverId: string,
    { subject, name }: Person,
    state: Pick<PersonalState, 'values' | 'destination'>,
    tx: Tx,
  ): Promise<void> {
    await tx.query(
      `INSERT INTO mcp.person_credentials (server_id, subject, person) VALUES ($1, $2, $3)
       ON CONFLICT (server_id, subject) DO NOTHING`,
      [serverId, subject, name],
    );
    const before = await this.lock({ serverId, subject }, tx);
    const oauth = before?.state?.oauth;
    const isSame = before?.state?.destination === state.destination;
    const next = { ...state, ...(oauth && isSame && { oauth }) };
    await tx.query(
      `UPDATE mcp.person_credentials SET state = $3, person = $4, needed = false,
         generation = gen_random_uuid(), connected_at = now(), updated_at = now(),
         link_id = NULL, link_until = NULL
       WHERE server_id = $1 AND subject = $2`,
      [serverId, subject, this.seal({ serverId, subject }, next), name],
    );
  }

  /**
   * Does nothing when the person has disconnected, or has other credentials than those of `generation` meanwhile: that
   * must not be undone by a late answer. Only new tokens end the need of a person: a question does not.
   */
  async putOAuth(
    holder: Holder,
    generation: string | undefined,
    destination: string,
    change: OAuthChange,
  ): Promise<boolean> {
    const { serverId, subject } = holder;
    return this.database.transaction(async (tx) => {
      const before = await this.lock(holder, tx);
      if (!before || before.generation !== generation) return false;
      const tokens = change.oauth['tokens'];
      const hasNewTokens =
        tokens !== undefined &&
        JSON.stringify(tokens) !== JSON.stringify(before.state?.oauth?.['tokens']);
      const needed = change.needed || (before.needed && !change.isNew && !hasNewTokens);
      const values = before.state?.destination === destination ? before.state.values : {};
      const state = { values, destination, oauth: change.oauth };
      await tx.query(
        `UPDATE mcp.person_credentials SET state = $3, needed = $4, scopes = $5, expires_at = $6,
           question_hash = $7, updated_at = now(),
           generation = CASE WHEN $8 THEN gen_random_uuid() ELSE generation END,
           connected_at = CASE WHEN $8 THEN now() ELSE connected_at END
         WHERE server_id = $1 AND subject = $2`,
        [
          ...[serverId, subject, this.seal(holder, state), needed, change.scopes],
          ...[change.expiresAt, change.questionHash, change.isNew],
        ],
      );
      return true;
    });
  }

  /** The person has to connect again; false when there is nothing to expire. */
  async expire({ serverId, subject }: Holder, tx: Tx = this.database.direct): Promise<boolean> {
    const [, changed] = await tx.query<[unknown, number]>(
      `UPDATE mcp.person_credentials SET needed = true, generation = gen_random_uuid(), state = NULL,
         scopes = NULL, expires_at = NULL, question_hash = NULL, updated_at = now()
       WHERE server_id = $1 AND subject = $2 AND state IS NOT NULL`,
      [serverId, subject],
    );
    return changed > 0;
  }

  /** The server refused them, unless they were replaced meanwhile. */
  async refuse({ serverId, subject }: Holder, generation: string): Promise<void> {
    await this.database.direct.query(
      `UPDATE mcp.person_credentials SET needed = true, updated_at = now()
       WHERE server_id = $1 AND subject = $2 AND generation = $3`,
      [serverId, subject, generation],
    );
  }

  async delete({ serverId, subject }: Holder, tx: Tx = this.database.direct): Promise<boolean> {
    const [, deleted] = await tx.query<[unknown, number]>(
      'DELETE FROM mcp.person_credentials WHERE server_id = $1 AND subject = $2',
      [serverId, subject],
    );
    return deleted > 0;
  }

  async byId(serverId: string, id: string): Promise<ShownCredential | undefined> {
    const rows = await this.shown('id = $1', id);
    return rows.find((row) => row.serverId === serverId);
  }

  /** Subjects of tokens of this service: of those that were issued, or of those that are configured. */
  async subjectsFrom(start: string): Promise<string[]> {
    const rows = await this.database.background.direct.query<{ subject: string }[]>(
      'SELECT DISTINCT subject FROM mcp.person_credentials WHERE starts_with(subject, $1)',
      [start],
    );
    return rows.map(({ subject }) => subject);
  }

  /** Notes that their tokens are configured; returns which of the others have not been for a day. */
  async seen(known: readonly string[], others: readonly string[]): Promise<string[]> {
    const tx = this.database.background.direct;
    await tx.query('UPDATE mcp.person_credentials SET seen_at = now() WHERE subject = ANY($1)', [
      known,
    ]);
    const rows = await tx.query<{ subject: string }[]>(
      `SELECT DISTINCT subject FROM mcp.person_credentials
       WHERE subject = ANY($1) AND seen_at < now() - interval '24 hours'`,
      [others],
    );
    return rows.map(({ subject }) => subject);
  }

  /** Returns those that had been given. */
  async deleteSubjects(subjects: readonly string[]): Promise<readonly Forgotten[]> {
    const [deleted] = await this.database.background.direct.query<
      [(Forgotten & { isGiven: boolean })[], number]
    >(
      `DELETE FROM mcp.person_credentials WHERE subject = ANY($1)
       RETURNING server_id AS "serverId", subject, person, state IS NOT NULL AS "isGiven"`,
      [subjects],
    );
    return deleted.filter(({ isGiven }) => isGiven);
  }

  /** Rows of people who never connected. */
  async deleteUnused(): Promise<void> {
    await this.database.background.direct.query(
      `DELETE FROM mcp.person_credentials
       WHERE state IS NULL AND connected_at IS NULL
         AND coalesce(link_until, updated_at) < now() - interval '1 hour'`,
    );
  }

  /** The open link of that person, or a new one. Throws when the server was removed. */
  async openLink(serverId: string, { subject, name }: Person): Promise<ConnectLink> {
    const [link] = await this.database.direct.query<ConnectLink[]>(
      `INSERT INTO mcp.person_credentials AS held (server_id, subject, person, link_id, link_until)
       VALUES ($1, $2, $3, $4, now() + interval '${LINK_TIME}')
       ON CONFLICT (server_id, subject) DO UPDATE SET
         link_id = CASE WHEN held.link_until > now() + interval '${LINK_TIME_LEFT}'
           THEN held.link_id ELSE excluded.link_id END,
         link_until = CASE WHEN held.link_until > now() + interval '${LINK_TIME_LEFT}'
           THEN held.link_until ELSE excluded.link_until END
       RETURNING link_id AS id, link_until AS until`,
      [serverId, subject, name, randomBytes(24).toString('base64url')],
    );
    if (!link) throw new Error('INSERT … RETURNING gave no row');
    return link;
  }

  /** Undefined when it was used, has expired or never existed. */
  async linked(linkId: string): Promise<PersonCredential | undefined> {
    const rows = await this.database.direct.query<Row[]>(
      `SELECT ${COLUMNS}, state FROM mcp.person_credentials
       WHERE link_id = $1 AND link_until > now()`,
      [linkId],
    );
    return rows[0] && this.opened(rows[0]);
  }

  /** True for one caller only, who has to be the person of the link. */
  async useLink(linkId: string, subject: string, tx: Tx = this.database.direct): Promise<boolean> {
    const [, used] = await tx.query<[unknown, number]>(
      `UPDATE mcp.person_credentials SET link_id = NULL, link_until = NULL
       WHERE link_id = $1 AND subject = $2 AND link_until > now()`,
      [linkId, subject],
    );
    return used > 0;
  }

  /** The browser that began to log in at an authorization server has to be the one that comes back. */
  async bindBrowser({ serverId, subject }: Holder, browserHash: string): Promise<void> {
    await this.database.direct.query(
      `UPDATE mcp.person_credentials SET browser_hash = $3 WHERE server_id = $1 AND subject = $2`,
      [serverId, subject, browserHash],
    );
  }

  /** Whose question an authorization server answers. */
  async askedWith(
    questionHash: string,
  ): Promise<
    (Holder & { readonly browserHash: string | null; readonly person: string }) | undefined
  > {
    const [row] = await this.database.direct.query<
      (Holder & { browserHash: string | null; person: string })[]
    >(
      `SELECT server_id AS "serverId", subject, person, browser_hash AS "browserHash"
       FROM mcp.person_credentials WHERE question_hash = $1`,
      [questionHash],
    );
    return row;
  }

  /** As `AuthorizationStore.hold`, for one person: a refresh token must not be used twice. */
  async hold({ serverId, subject }: Holder, seconds: number): Promise<boolean> {
    const [, held] = await this.database.direct.query<[unknown, number]>(
      `UPDATE mcp.person_credentials SET held_until = now() + make_interval(secs => $3)
       WHERE server_id = $1 AND subject = $2 AND (held_until IS NULL OR held_until < now())`,
      [serverId, subject, seconds],
    );
    return held > 0;
  }

  async release({ serverId, subject }: Holder): Promise<void> {
    await this.database.direct.query(
      'UPDATE mcp.person_credentials SET held_until = NULL WHERE server_id = $1 AND subject = $2',
      [serverId, subject],
    );
  }

  /** Re-encrypts every row with the current key. */
  async resealAll(tx: Tx): Promise<void> {
    const rows = await tx.query<(Holder & { id: string; state: unknown })[]>(
      `SELECT id, server_id AS "serverId", subject, state FROM mcp.person_credentials
       WHERE state IS NOT NULL FOR UPDATE`,
    );
    for (const { id, serverId, subject, state } of rows) {
      const holder = { serverId, subject };
      await tx.query('UPDATE mcp.person_credentials SET state = $2 WHERE id = $1', [
        id,
        this.seal(holder, this.open(holder, state)),
      ]);
    }
  }

  private async shown(where: string, value: string): Promise<ShownCredential[]> {
    return this.database.direct.query<ShownCredential[]>(
      `SELECT ${COLUMNS}, state IS NOT NULL AS "isGiven" FROM mcp.person_credentials
       WHERE ${where} ORDER BY person, id LIMIT 10000`,
      [value],
    );
  }

  private async lock(holder: Holder, tx: Tx): Promise<PersonCredential | undefined> {
    const rows = await tx.query<Row[]>(
      `SELECT ${COLUMNS}, state FROM mcp.person_credentials
       WHERE server_id = $1 AND subject = $2 FOR UPDATE`,
      [holder.serverId, holder.subject],
    );
    return rows[0] && this.opened(rows[0]);
  }

  private opened({ state, ...row }: Row): PersonCredential {
    return { ...row, state: state === null ? undefined : this.open(row, state) };
  }

  private seal(holder: Holder, state: PersonalState): object {
    return this.vault.seal(JSON.stringify(state), placeOf(holder));
  }

  private open(holder: Holder, envelope: unknown): PersonalState {
    const text = this.vault.open(envelope, placeOf(holder));
    const { values, destination, oauth } = stateSchema.parse(JSON.parse(text));
    return { values, destination, ...(isJsonObject(oauth) && { oauth }) };
  }
}

type Row = Omit<PersonCredential, 'state'> & { readonly state: unknown };

const stateSchema = z.object({
  values: z.record(z.string(), z.string()),
  destination: z.string(),
  oauth: z.unknown().optional(),
});

/** Ids of servers all have the same length, so that no two rows have the same text. */
function placeOf({ serverId, subject }: Holder): Parameters<CredentialVault['seal']>[1] {
  return { table: 'person_credentials', row: `${serverId} ${subject}`, field: 'state' };
}
