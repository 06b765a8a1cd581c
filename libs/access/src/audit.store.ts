import { Injectable } from '@nestjs/common';
import { Database, type JsonObject, type Tx } from '@app/platform';
import { AuditEntity, type AuditOutcome } from './audit.entity.js';
import type { Actor } from './principal.js';

export interface AuditEntry {
  /** `server.registered`, `access.refused`, … */
  readonly event: string;
  readonly actor: Actor;
  readonly outcome?: AuditOutcome;
  readonly server?: { readonly id: string; readonly name: string };
  /** Never a value that could be a secret: names of fields, codes, counts. */
  readonly details?: JsonObject;
}

export interface AuditFilter {
  readonly event: string | undefined;
  readonly serverId: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** Rows a statement: deleting a month at once would keep the embedded database's only connection. */
const FORGET_AT_ONCE = 5_000;

/** Who did what, when, from where, and whether it was allowed (RULINGS R38). */
@Injectable()
export class AuditStore {
  constructor(private readonly database: Database) {}

  /** Pass the transaction of the change, so that neither is ever there without the other. */
  async record(entry: AuditEntry, tx: Tx = this.database.direct): Promise<void> {
    await tx.insert(AuditEntity, rowOf(entry));
  }

  /** For what is noted first and written in batches. */
  async recordAll(entries: readonly AuditEntry[]): Promise<void> {
    await this.database.direct.insert(AuditEntity, entries.map(rowOf));
  }

  /** Newest first. */
  async page(filter: AuditFilter): Promise<{ rows: AuditEntity[]; total: number }> {
    const [rows, total] = await this.database.direct.findAndCount(AuditEntity, {
      where: {
        ...(filter.event !== undefined && { event: filter.event }),
        ...(filter.serverId !== undefined && { serverId: filter.serverId }),
      },
      order: { id: 'DESC' },
      take: filter.limit,
      skip: filter.offset,
    });
    return { rows, total };
  }

  async forgetBefore(time: Date): Promise<void> {
    for (;;) {
      const [, deleted] = await this.database.direct.query<[unknown, number]>(
        `DELETE FROM mcp.audit_log WHERE id IN
           (SELECT id FROM mcp.audit_log WHERE timestamp < $1 ORDER BY timestamp LIMIT $2)`,
        [time, FORGET_AT_ONCE],
      );
      if (deleted < FORGET_AT_ONCE) return;
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
