import { Injectable } from '@nestjs/common';
import { Database, isUniqueViolation, type JsonObject, type Tx } from '@app/platform';
import { z } from 'zod';
import { type ConnectionConfig, parseConnectionConfig } from './connection-config.js';
import { CredentialVault } from './credential-vault.js';
import { ServerAlreadyExists, ServerNotFound, UnreadableCredentials } from './registry.errors.js';
import { ServerEntity } from './server.entity.js';
import type { Server } from './server.js';
import type { ServerStatus } from './server-status.js';
import type { Place } from './vault.js';

/** All replicas take turns at registering, so that the limit holds. */
const REGISTRATION_LOCK = 7_202_612;

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

export interface HistoryEntry {
  readonly eventType: string;
  readonly details: object;
  readonly timestamp: Date;
}

export interface ToolSummary {
  readonly id: number;
  readonly name: string;
  readonly originalName: string;
  readonly description: string;
}

export interface Totals {
  readonly statuses: Readonly<Record<ServerStatus, number>>;
  readonly tools: number;
  readonly classified: number;
  readonly lastSync: Date | null;
}

export type ServerChanges = Partial<
  Pick<
    ServerEntity,
    | 'name'
    | 'description'
    | 'status'
    | 'wanted'
    | 'protocolEra'
    | 'warnings'
    | 'errorMessage'
    | 'lastHealthCheck'
    | 'consecutiveFailures'
    | 'responseTimeMs'
    | 'lastError'
    | 'connectedAt'
  >
> & { readonly healthCheckUrl?: string | null; readonly config?: ConnectionConfig };

/** Rows of servers and of their history. Secrets are sealed on the way in and opened on the way out. */
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

  /** Holds all other registrations back until the transaction ends; the number of servers till then. */
  async countForRegistration(tx: Tx): Promise<number> {
    await tx.query('SELECT pg_advisory_xact_lock($1)', [REGISTRATION_LOCK]);
    return tx.count(ServerEntity);
  }

  async get(id: string, tx: Tx = this.database.direct): Promise<Server> {
    return this.toServer(await this.row(id, tx));
  }

  /** The row, kept from others until the transaction ends. */
  async lock(id: string, tx: Tx): Promise<Server> {
    const rows = await tx.query<unknown[]>(
      'SELECT 1 FROM mcp.external_servers WHERE id = $1 FOR UPDATE',
      [id],
    );
    if (rows.length === 0) throw new ServerNotFound(id);
    return this.get(id, tx);
  }

  async list(
    filter: { status?: ServerStatus },
    page?: Page,
  ): Promise<{ servers: Server[]; total: number }> {
    const [rows, total] = await this.database.direct.findAndCount(ServerEntity, {
      where: filter.status ? { status: filter.status } : {},
      order: { name: 'ASC' },
      ...(page && { take: page.limit, skip: page.offset }),
    });
    return { servers: rows.map((row) => this.toServer(row)), total };
  }

  async names(): Promise<Set<string>> {
    const rows = await this.database.direct.find(ServerEntity, { select: { name: true } });
    return new Set(rows.map((row) => row.name));
  }

  async config(id: string, tx: Tx = this.database.direct): Promise<ConnectionConfig> {
    return this.openConfig(await this.row(id, tx));
  }

  async update(id: string, changes: ServerChanges, tx: Tx): Promise<void> {
    const { config, healthCheckUrl, ...plain } = changes;
    try {
      await tx.update(
        ServerEntity,
        { id },
        {
          ...plain,
          ...(config && { connectionConfig: this.sealConfig(id, config) }),
          ...(healthCheckUrl !== undefined && { healthCheckUrl: this.sealUrl(id, healthCheckUrl) }),
          updatedAt: () => 'now()',
        },
      );
    } catch (error) {
      throw isUniqueViolation(error) ? new ServerAlreadyExists(changes.name ?? id) : error;
    }
  }

  /** A rename carries every namespaced tool name with it, in the same transaction (EC-008). */
  async renameTools(id: string, serverName: string, tx: Tx): Promise<void> {
    await tx.query(
      `UPDATE mcp.tools SET name = $2 || '.' || original_name, updated_at = now()
       WHERE source_server_id = $1`,
      [id, serverName],
    );
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
  }

  /** Newest first. */
  async history(id: string, page: Page): Promise<{ events: HistoryEntry[]; total: number }> {
    const [events, counted] = await Promise.all([
      this.database.direct.query<HistoryEntry[]>(
        `SELECT event_type AS "eventType", details, timestamp FROM mcp.server_connection_history
         WHERE server_id = $1 ORDER BY id DESC LIMIT $2 OFFSET $3`,
        [id, page.limit, page.offset],
      ),
      this.database.direct.query<{ total: number }[]>(
        'SELECT count(*)::int AS total FROM mcp.server_connection_history WHERE server_id = $1',
        [id],
      ),
    ]);
    return { events, total: counted[0]?.total ?? 0 };
  }

  /** Tools by server. They belong to discovery, but a list of servers reads across: rows are the truth. */
  async toolsOf(serverIds: readonly string[]): Promise<ReadonlyMap<string, ToolSummary[]>> {
    const rows = await this.database.direct.query<(ToolSummary & { serverId: string })[]>(
      `SELECT id, name, original_name AS "originalName", description, source_server_id AS "serverId"
       FROM mcp.tools WHERE source_server_id = ANY($1::uuid[]) ORDER BY name`,
      [serverIds],
    );
    const byServer = new Map<string, ToolSummary[]>();
    for (const row of rows) {
      const tools = byServer.get(row.serverId);
      if (tools) tools.push(row);
      else byServer.set(row.serverId, [row]);
    }
    return byServer;
  }

  async totals(): Promise<Totals> {
    const [servers, tools] = await Promise.all([
      this.database.direct.query<{ status: ServerStatus; count: number }[]>(
        'SELECT status, count(*)::int AS count FROM mcp.external_servers GROUP BY status',
      ),
      this.database.direct.query<Omit<Totals, 'statuses'>[]>(
        `SELECT count(*)::int AS tools, count(*) FILTER (WHERE is_classified)::int AS classified,
                max(updated_at) AS "lastSync"
         FROM mcp.tools WHERE is_external`,
      ),
    ]);
    const none = { DISCONNECTED: 0, CONNECTING: 0, CONNECTED: 0, DEGRADED: 0, ERROR: 0 };
    const statuses = servers.reduce((sum, row) => ({ ...sum, [row.status]: row.count }), none);
    return { statuses, ...(tools[0] ?? { tools: 0, classified: 0, lastSync: null }) };
  }

  /** Seals every row again with the current key; the number of rows. */
  async resealAll(tx: Tx): Promise<number> {
    const rows = await tx.find(ServerEntity);
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
    const { connectionConfig: _sealed, ...rest } = row;
    return {
      ...rest,
      warnings: warningsSchema.parse(row.warnings),
      healthCheckUrl: this.openUrl(row),
    };
  }

  private sealConfig(id: string, config: ConnectionConfig): object {
    const { transport: _column, ...stored } = config;
    return this.vault.seal(JSON.stringify(stored), configPlace(id));
  }

  private openConfig(row: ServerEntity): ConnectionConfig {
    const stored: unknown = JSON.parse(this.vault.open(row.connectionConfig, configPlace(row.id)));
    // Settings may have become stricter since it was stored; what is forbidden now is refused when it is opened.
    const rules = { allowInsecureHttp: true, mayReference: () => true };
    const parsed = parseConnectionConfig(row.transportType, stored, rules);
    if (!parsed.config) throw new UnreadableCredentials(`server ${row.name}`);
    return parsed.config;
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

const warningsSchema = z.array(z.string());

function configPlace(id: string): Place {
  return { table: 'external_servers', row: id, field: 'connection_config' };
}

function urlPlace(id: string): Place {
  return { table: 'external_servers', row: id, field: 'health_check_url' };
}
