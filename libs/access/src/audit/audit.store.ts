import { Injectable } from '@nestjs/common';
import {
  Database,
  type JsonObject,
  type KeysetPage,
  type KeysetRows,
  keyRange,
  LAST_ROW_ID,
  MAX_OFFSET,
  Signal,
  type Tx,
} from '@app/platform';
import { AuditEntity, type AuditOutcome } from './audit.entity.js';
import type { Actor } from '../authenticate/principal.js';

export interface AuditEntry {
  /** `server.registered`, `access.refused`, … */
  readonly event: string;
  readonly actor: Actor;
  readonly outcome?: AuditOutcome;
  readonly server?: { readonly id: string; readonly name: string };
  /** Names of fields, codes, counts; never values that could be secret. */
  readonly details?: JsonObject;
}

export interface AuditFilter {
  readonly event: string | undefined;
  readonly serverId: string | undefined;
}

/** Rows per statement: PostgreSQL takes 65,535 parameters. */
const ROWS_PER_INSERT = 1_000;
/** Rows per statement: the embedded database has one connection, which a large delete would block. */
const ROWS_PER_DELETE = 5_000;

/** The rows of `mcp.audit_log` (contract R38). */
@Injectable()
export class AuditStore {
  private readonly recorded = new Signal<AuditEntry>('audit entries');

  constructor(private readonly database: Database) {}

  /** Called for each entry once it is committed; those of tool calls are many. */
  onRecorded(listener: (entry: AuditEntry) => unknown): () => void {
    return this.recorded.hear(listener);
  }

  /** `tx`: the transaction of the change, so that both are committed or neither. */
  async record(entry: AuditEntry, tx: Tx = this.database.direct): Promise<void> {
    await tx.insert(AuditEntity, rowOf(entry));
    this.database.afterCommit(tx, () => void this.recorded.tell(entry));
  }

  /** All or none, in one transaction. */
  async recordAll(entries: readonly AuditEntry[]): Promise<void> {
    await this.database.audit.transaction(async (tx) => {
      for (let start = 0; start < entries.length; start += ROWS_PER_INSERT) {
        await tx.insert(AuditEntity, entries.slice(start, start + ROWS_PER_INSERT).map(rowOf));
      }
    });
    for (const entry of entries) void this.recorded.tell(entry);
  }

  /** Newest first. */
  async page(filter: AuditFilter, page: KeysetPage): Promise<KeysetRows<AuditEntity>> {
    const { scope, values } = scopeOf(filter);
    const range = keyRange(scope);
    const before = page.after ?? LAST_ROW_ID;
    const [rows, [count]] = await Promise.all([
      this.database.direct.query<AuditEntity[]>(
        `SELECT id, event, outcome, actor, ip_address AS "ipAddress", server_id AS "serverId",
                server_name AS "serverName", details, timestamp
         FROM mcp.audit_log WHERE ${range.where} ORDER BY ${range.newestFirst}
         LIMIT $${values.length + 2} OFFSET $${values.length + 3}`,
        [...values, before, page.limit + 1, page.offset],
      ),
      this.database.direct.query<{ counted: number }[]>(
        `SELECT count(*)::int AS counted FROM (
           SELECT 1 FROM mcp.audit_log WHERE ${range.where} LIMIT $${values.length + 2}) AS few`,
        [...values, LAST_ROW_ID, MAX_OFFSET + 1],
      ),
    ]);
    return { rows, counted: count?.counted ?? 0 };
  }

  /** By the database's clock, which also set the timestamps of the entries. */
  async forgetOlderThan(days: number): Promise<void> {
    for (;;) {
      const [, deleted] = await this.database.audit.direct.query<[unknown, number]>(
        `DELETE FROM mcp.audit_log WHERE id IN
           (SELECT id FROM mcp.audit_log WHERE timestamp < now() - make_interval(days => $1) ORDER BY timestamp LIMIT $2)`,
        [days, ROWS_PER_DELETE],
      );
      if (deleted < ROWS_PER_DELETE) return;
    }
  }

  /**
   * Deletes entries of tool calls that are not among the newest `kept` entries of the log. Other entries stay: a
   * caller of tools cannot push out the record of changes and refusals.
   */
  async forgetCallsBeyond(kept: number): Promise<void> {
    for (;;) {
      const [, deleted] = await this.database.audit.direct.query<[unknown, number]>(
        `DELETE FROM mcp.audit_log WHERE id IN
           (SELECT id FROM mcp.audit_log
            WHERE event = 'tool.called' AND id <= (SELECT max(id) FROM mcp.audit_log) - $1
            ORDER BY id LIMIT $2)`,
        [kept, ROWS_PER_DELETE],
      );
      if (deleted < ROWS_PER_DELETE) return;
    }
  }
}

function rowOf(entry: AuditEntry): Omit<AuditEntity, 'id' | 'timestamp'> {
  return {
    event: entry.event,
    outcome: entry.outcome ?? 'success',
    actor: entry.actor.name,
    ipAddress: entry.actor.ip,
    serverId: entry.server?.id ?? null,
    serverName: entry.server?.name ?? null,
    details: entry.details ?? {},
  };
}

/** Columns in the order of the indexes of the table. */
function scopeOf({ event, serverId }: AuditFilter): { scope: string[]; values: string[] } {
  const filters = [
    ...(serverId === undefined ? [] : [{ column: 'server_id', value: serverId }]),
    ...(event === undefined ? [] : [{ column: 'event', value: event }]),
  ];
  return {
    scope: filters.map(({ column }) => column),
    values: filters.map(({ value }) => value),
  };
}
