import { Injectable } from '@nestjs/common';
import {
  Database,
  isUniqueViolation,
  type JsonObject,
  type KeysetPage,
  type KeysetRows,
  keyRange,
  LAST_ROW_ID,
  MAX_OFFSET,
  type Tx,
} from '@app/platform';
import { type FindOperator, ILike, In } from 'typeorm';
import { z } from 'zod';
import type { ConnectionConfig, TransportType } from './connection/connection-config.js';
import { parseConnectionConfig } from './connection/parse-config.js';
import { CredentialVault } from './credentials/credential-vault.js';
import { ServerAlreadyExists, ServerNotFound, UnreadableCredentials } from './registry.errors.js';
import { ServerEntity } from './server.entity.js';
import type { Server } from './server.js';
import {
  errorShown,
  type ListedKind,
  listFailuresSchema,
  listProblems,
} from './status/list-failures.js';
import type { ServerStatus } from './status/server-status.js';
import type { Place } from './credentials/vault.js';

/** Serialises registrations across replicas, so that the limit on servers holds. */
const REGISTRATION_LOCK = 7_202_612;

export interface ServerPage {
  readonly limit: number;
  readonly offset: number;
}

export interface ServerFilter {
  readonly status?: ServerStatus | undefined;
  readonly transportType?: TransportType | undefined;
  readonly ids?: readonly string[] | undefined;
  /** A part of the name or the description, in any case. */
  readonly text?: string | undefined;
}

/** History entries kept per server: each reconnect writes three or more, possibly for months. */
const HISTORY_KEPT = 1_000;

/** For `RowWatches`: hash of everything the catalogue shows of servers; must match `digestOfServers` of a catalogue. */
export const SERVERS_MARK = `SELECT md5(string_agg(
    concat_ws(' ', id, name, status, description, error_message, list_failures ->> 'tools',
      list_failures ->> 'prompts', list_failures ->> 'resources',
      list_failures ->> 'resourceTemplates', trust, credentials), ';' ORDER BY id))
  FROM mcp.external_servers`;

const HISTORY = keyRange(['server_id']);

export interface HistoryEntry {
  readonly id: string;
  readonly eventType: string;
  readonly details: object;
  readonly timestamp: Date;
}

export type ServerChanges = Partial<
  Pick<
    ServerEntity,
    | 'name'
    | 'description'
    | 'status'
    | 'wanted'
    | 'protocolEra'
    | 'asksCallers'
    | 'trust'
    | 'credentials'
    | 'listFailures'
    | 'warnings'
    | 'errorMessage'
    | 'lastHealthCheck'
    | 'consecutiveFailures'
    | 'responseTimeMs'
    | 'lastError'
    | 'connectedAt'
  >
> & { readonly healthCheckUrl?: string | null; readonly config?: ConnectionConfig };

/** Rows of servers and their history. Encrypts connection settings on write and decrypts them on read. */
@Injectable()
export class ServerStore {
  constructor(
    private readonly database: Database,
    private readonly vault: CredentialVault,
  ) {}

  async insert(server: Server, config: ConnectionConfig, tx: Tx): Promise<void> {
    try {
      await tx.insert(ServerEntity, {
        ...server,
        warnings: [...server.warnings],
        connectionConfig: this.sealConfig(server.id, config),
        healthCheckUrl: this.sealUrl(server.id, server.healthCheckUrl),
      });
    } catch (error) {
      throw isUniqueViolation(error) ? new ServerAlreadyExists(server.name) : error;
    }
  }

  /** Blocks other registrations until the transaction ends; the number of servers with those of the transaction. */
  async countForRegistration(tx: Tx): Promise<number> {
    await tx.query('SELECT pg_advisory_xact_lock($1)', [REGISTRATION_LOCK]);
    return tx.count(ServerEntity);
  }

  async get(id: string, tx: Tx = this.database.direct): Promise<Server> {
    return this.toServer(await this.row(id, tx));
  }

  /** The row, locked until the transaction ends. */
  async lock(id: string, tx: Tx): Promise<Server> {
    const row = await tx.findOne(ServerEntity, {
      where: { id },
      lock: { mode: 'pessimistic_write' },
    });
    if (!row) throw new ServerNotFound(id);
    return this.toServer(row);
  }

  async list(
    filter: ServerFilter,
    page?: ServerPage,
  ): Promise<{ servers: Server[]; total: number }> {
    const where = {
      ...(filter.status && { status: filter.status }),
      ...(filter.transportType && { transportType: filter.transportType }),
      ...(filter.ids && { id: In([...filter.ids]) }),
    };
    const part = filter.text === undefined ? undefined : partOf(filter.text);
    const [rows, total] = await this.database.direct.findAndCount(ServerEntity, {
      where: part
        ? [
            { ...where, name: part },
            { ...where, description: part },
          ]
        : where,
      order: { name: 'ASC' },
      ...(page && { take: page.limit, skip: page.offset }),
    });
    return { servers: rows.map((row) => this.toServer(row)), total };
  }

  /** Every server, by name. One whose configuration cannot be read has none. */
  async allWithConfig(): Promise<{ server: Server; config: ConnectionConfig | undefined }[]> {
    const rows = await this.database.direct.find(ServerEntity, { order: { name: 'ASC' } });
    return rows.map((row) => ({ server: this.toServer(row), config: this.readableConfig(row) }));
  }

  async names(): Promise<Set<string>> {
    const rows = await this.database.direct.find(ServerEntity, { select: { name: true } });
    return new Set(rows.map((row) => row.name));
  }

  async config(id: string, tx: Tx = this.database.direct): Promise<ConnectionConfig> {
    return this.openConfig(await this.row(id, tx));
  }

  /** Both from one read of the row. */
  async getWithConfig(id: string): Promise<{ server: Server; config: ConnectionConfig }> {
    const row = await this.row(id, this.database.direct);
    return { server: this.toServer(row), config: this.openConfig(row) };
  }

  async update(id: string, changes: ServerChanges, tx: Tx): Promise<void> {
    const { config, healthCheckUrl, ...plain } = changes;
    try {
      await tx.update(
        ServerEntity,
        { id },
        {
          ...plain,
          ...(config && { connectionConfig: this.sealConfig(id, config), asksCallers: false }),
          ...(healthCheckUrl !== undefined && { healthCheckUrl: this.sealUrl(id, healthCheckUrl) }),
          updatedAt: () => 'now()',
          version: () => 'version + 1',
          ...(endsSessions(changes) && { connectionVersion: () => 'connection_version + 1' }),
        },
      );
    } catch (error) {
      throw isUniqueViolation(error) ? new ServerAlreadyExists(changes.name ?? id) : error;
    }
  }

  /** Writes only if the value differs. */
  async setOfferingWarnings(id: string, warnings: readonly string[]): Promise<void> {
    await this.database.direct.query(
      `UPDATE mcp.external_servers SET offering_warnings = $2::jsonb, updated_at = now()
       WHERE id = $1 AND offering_warnings <> $2::jsonb`,
      [id, JSON.stringify(warnings)],
    );
  }

  /** Whether that was not in the row yet. Does nothing for a removed server. */
  async setListFailure(id: string, kind: ListedKind, reason: string | null): Promise<boolean> {
    const rows = await this.database.direct.query<unknown[]>(
      `WITH changed AS (
         UPDATE mcp.external_servers SET updated_at = now(), list_failures = CASE
           WHEN $3::text IS NULL THEN list_failures - $2::text
           ELSE list_failures || jsonb_build_object($2::text, $3::text) END
         WHERE id = $1 AND list_failures ->> $2::text IS DISTINCT FROM $3::text RETURNING id)
       SELECT id FROM changed`,
      [id, kind, reason],
    );
    return rows.length > 0;
  }

  /** Tools and history go with the row (ON DELETE CASCADE). */
  async delete(id: string, tx: Tx): Promise<void> {
    await tx.delete(ServerEntity, { id });
  }

  async addHistory(id: string, eventType: string, details: JsonObject, tx: Tx): Promise<void> {
    await tx.query(
      'INSERT INTO mcp.server_connection_history (server_id, event_type, details) VALUES ($1, $2, $3)',
      [id, eventType, details],
    );
    await tx.query(
      `DELETE FROM mcp.server_connection_history WHERE server_id = $1 AND id <= (
         SELECT id FROM mcp.server_connection_history WHERE server_id = $1
         ORDER BY id DESC LIMIT 1 OFFSET $2)`,
      [id, HISTORY_KEPT],
    );
  }

  /** Newest first. */
  async history(id: string, page: KeysetPage): Promise<KeysetRows<HistoryEntry>> {
    const [rows, [count]] = await Promise.all([
      this.database.direct.query<HistoryEntry[]>(
        `SELECT id, event_type AS "eventType", details, timestamp FROM mcp.server_connection_history
         WHERE ${HISTORY.where} ORDER BY ${HISTORY.newestFirst} LIMIT $3 OFFSET $4`,
        [id, page.after ?? LAST_ROW_ID, page.limit + 1, page.offset],
      ),
      this.database.direct.query<{ counted: number }[]>(
        `SELECT count(*)::int AS counted FROM (
           SELECT 1 FROM mcp.server_connection_history
           WHERE ${HISTORY.where} LIMIT $3) AS few`,
        [id, LAST_ROW_ID, MAX_OFFSET + 1],
      ),
    ]);
    return { rows, counted: count?.counted ?? 0 };
  }

  /** All that is kept, oldest first. */
  wholeHistory(id: string): Promise<HistoryEntry[]> {
    return this.database.direct.query<HistoryEntry[]>(
      `SELECT id, event_type AS "eventType", details, timestamp FROM mcp.server_connection_history
       WHERE server_id = $1 ORDER BY server_id, id LIMIT $2`,
      [id, 2 * HISTORY_KEPT],
    );
  }

  async countByStatus(): Promise<Readonly<Record<ServerStatus, number>>> {
    const rows = await this.database.direct.query<{ status: ServerStatus; count: number }[]>(
      'SELECT status, count(*)::int AS count FROM mcp.external_servers GROUP BY status',
    );
    const none = {
      DISCONNECTED: 0,
      CONNECTING: 0,
      CONNECTED: 0,
      DEGRADED: 0,
      DISCONNECTING: 0,
      ERROR: 0,
    };
    return rows.reduce((sum, row) => ({ ...sum, [row.status]: row.count }), none);
  }

  /** Re-encrypts every row with the current key, without undoing a change of a running replica; returns their number. */
  async resealAll(tx: Tx): Promise<number> {
    const rows = await tx.find(ServerEntity, {
      order: { id: 'ASC' },
      lock: { mode: 'pessimistic_write' },
    });
    for (const row of rows) {
      await tx.update(
        ServerEntity,
        { id: row.id },
        {
          connectionConfig: this.sealConfig(row.id, this.openConfig(row)),
          healthCheckUrl: this.sealUrl(row.id, this.openUrl(row)),
        },
      );
    }
    return rows.length;
  }

  private async row(id: string, tx: Tx): Promise<ServerEntity> {
    const row = await tx.findOneBy(ServerEntity, { id });
    if (!row) throw new ServerNotFound(id);
    return row;
  }

  private toServer(row: ServerEntity): Server {
    const { connectionConfig: _sealed, offeringWarnings, ...rest } = row;
    const listFailures = listFailuresSchema.parse(row.listFailures);
    const problems = listProblems(row.status, listFailures);
    const asked = problems.map(
      (problem) => `${problem}; the list from before is used, and it is asked again`,
    );
    return {
      ...rest,
      listFailures,
      errorMessage: errorShown({
        status: row.status,
        errorMessage: row.errorMessage,
        listFailures,
      }),
      warnings: warningsSchema.parse([...asked, ...row.warnings, ...offeringWarnings]),
      healthCheckUrl: this.openUrl(row),
    };
  }

  private sealConfig(id: string, config: ConnectionConfig): object {
    const { transport: _column, ...stored } = config;
    return this.vault.seal(JSON.stringify(stored), configPlace(id));
  }

  private openConfig(row: ServerEntity): ConnectionConfig {
    const stored: unknown = JSON.parse(this.vault.open(row.connectionConfig, configPlace(row.id)));
    // Rules may have become stricter since the row was stored; they are enforced when the connection is opened.
    const rules = { allowInsecureHttp: true, egress: undefined, mayReference: () => true };
    const parsed = parseConnectionConfig(row.transportType, stored, rules);
    if (!parsed.config) throw new UnreadableCredentials(`server ${row.name}`);
    return parsed.config;
  }

  private readableConfig(row: ServerEntity): ConnectionConfig | undefined {
    try {
      return this.openConfig(row);
    } catch (error) {
      if (error instanceof UnreadableCredentials) return undefined;
      throw error;
    }
  }

  private sealUrl(id: string, url: string | null): object | null {
    return url === null ? null : this.vault.seal(url, urlPlace(id));
  }

  private openUrl(row: ServerEntity): string | null {
    return row.healthCheckUrl === null
      ? null
      : this.vault.open(row.healthCheckUrl, urlPlace(row.id));
  }
}

function partOf(text: string): FindOperator<string> {
  return ILike(`%${text.replaceAll(/[\\%_]/g, '\\$&')}%`);
}

/** A configuration that open sessions do not use, or a disconnect by request. */
function endsSessions({ config, credentials, status, wanted }: ServerChanges): boolean {
  const isReconfigured = config !== undefined || credentials !== undefined;
  return isReconfigured || (status === 'DISCONNECTED' && wanted === false);
}

const warningsSchema = z.array(z.string());

function configPlace(id: string): Place {
  return { table: 'external_servers', row: id, field: 'connection_config' };
}

function urlPlace(id: string): Place {
  return { table: 'external_servers', row: id, field: 'health_check_url' };
}
