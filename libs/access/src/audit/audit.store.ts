import { Injectable } from '@nestjs/common';
import {
  Database,
  type JsonObject,
  type KeysetPage,
  type KeysetRows,
  LAST_ROW_ID,
  MAX_OFFSET,
  Signal,
  type Tx,
} from '@app/platform';
import { z } from 'zod';
import { AuditEntity, type AuditOutcome, auditOutcomes } from './audit.entity.js';
import { type AuditFilter, planOf } from './audit-filter.js';
import { AuditScan, type Statement } from './audit-scan.js';
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

/** Entries that a page looks through for what no index leads to. */
const SCANNED = 5_000;
/** Ids are given before a transaction commits, so that a later one may have an earlier time. */
const OUT_OF_ORDER = 10_000n;

/** Rows per statement: PostgreSQL takes 65,535 parameters. */
const ROWS_PER_INSERT = 1_000;
/** Rows per statement: the embedded database has one connection, which a large delete would block. */
const ROWS_PER_DELETE = 5_000;

const auditRows = z.array(
  z.object({
    id: z.string(),
    event: z.string(),
    outcome: z.enum(auditOutcomes),
    actor: z.string(),
    actorSubject: z.string().nullable(),
    ipAddress: z.string().nullable(),
    serverId: z.string().nullable(),
    serverName: z.string().nullable(),
    details: z.record(z.string(), z.unknown()),
    timestamp: z.date(),
  }),
);
const foundRows = z.array(
  z.looseObject({
    id: z.string().nullable(),
    scanned: z.number(),
    matched: z.number(),
    lowest: z.string().nullable(),
  }),
);
const counts = z.array(z.object({ counted: z.number() }));
const ids = z.array(z.object({ id: z.string().nullable() }));

function minOf(one: string, other: string): string {
  return BigInt(one) < BigInt(other) ? one : other;
}

/** The rows of `mcp.audit_log` (contract R38). */
@Injectable()
export class AuditStore {
  private readonly recorded = new Signal<AuditEntry>('audit entries');

  constructor(private readonly database: Database) {}

  /** Called for each entry once it is committed; those of tool calls are many. The change is answered afterwards. */
  onRecorded(listener: (entry: AuditEntry) => unknown): () => void {
    return this.recorded.hear(listener);
  }

  /** `tx`: the transaction of the change, so that both are committed or neither. */
  async record(entry: AuditEntry, tx: Tx = this.database.direct): Promise<void> {
    await tx.insert(AuditEntity, rowOf(entry));
    await this.database.afterCommit(tx, () => this.recorded.tell(entry));
  }

  /** All or none, in one transaction. */
  async recordAll(entries: readonly AuditEntry[]): Promise<void> {
    await this.database.audit.transaction(async (tx) => {
      for (let start = 0; start < entries.length; start += ROWS_PER_INSERT) {
        await tx.insert(AuditEntity, entries.slice(start, start + ROWS_PER_INSERT).map(rowOf));
      }
    });
    await Promise.all(entries.map((entry) => this.recorded.tell(entry)));
  }

  /**
   * Newest first. What no index leads to is looked for in the next SCANNED entries of the best index, so that a page
   * takes the same time however many entries there are; it may be short then, and `continueAfter` says where the next one begins.
   */
  async page(filter: AuditFilter, page: KeysetPage): Promise<KeysetRows<AuditEntity>> {
    const plan = planOf(filter);
    const [top, bottom] = await Promise.all([this.top(filter), this.bottom(filter)]);
    const start = minOf(page.after ?? LAST_ROW_ID, top);
    const scan = new AuditScan(plan, bottom);
    const isScan = plan.rest.length > 0;
    const length = isScan ? SCANNED : page.limit + 1 + page.offset;
    const [found, counted] = await Promise.all([
      this.query(scan.page(start, page, length), foundRows),
      isScan ? undefined : this.query(scan.count(MAX_OFFSET + 1, top), counts),
    ]);
    const rows = auditRows.parse(found.filter(({ id }) => id !== null));
    const { scanned = 0, matched = 0, lowest } = found[0] ?? {};
    const isPart = isScan && (scanned === SCANNED || page.after !== undefined);
    return {
      rows,
      counted: counted?.[0]?.counted ?? matched,
      isPartlyCounted: isPart,
      continueAfter: isScan && scanned === SCANNED ? (lowest ?? undefined) : undefined,
    };
  }

  /** An id above those of all entries of the filter; also of later ones, so that pages stay the same. */
  private async top({ to, ...filter }: AuditFilter): Promise<string> {
    if (to === undefined && planOf(filter).rest.length === 0) return LAST_ROW_ID;
    const [row] = await this.query(
      to === undefined
        ? { text: 'SELECT max(id) AS id FROM mcp.audit_log', values: [] }
        : {
            text: 'SELECT id FROM mcp.audit_log WHERE timestamp < $1 ORDER BY timestamp DESC LIMIT 1',
            values: [to],
          },
      ids,
    );
    return row?.id ? String(BigInt(row.id) + (to ? OUT_OF_ORDER : 1n)) : '1';
  }

  /** An id that no entry of the filter is below. */
  private async bottom({ from }: AuditFilter): Promise<string> {
    if (from === undefined) return '0';
    const [row] = await this.query(
      {
        text: 'SELECT id FROM mcp.audit_log WHERE timestamp >= $1 ORDER BY timestamp LIMIT 1',
        values: [from],
      },
      ids,
    );
    return row?.id ? String(BigInt(row.id) - OUT_OF_ORDER) : LAST_ROW_ID;
  }

  private async query<T>({ text, values }: Statement, schema: z.ZodType<T[]>): Promise<T[]> {
    return schema.parse(await this.database.direct.query<unknown>(text, [...values]));
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
    actorSubject: entry.actor.subject ?? null,
    ipAddress: entry.actor.ip,
    serverId: entry.server?.id ?? null,
    serverName: entry.server?.name ?? null,
    details: entry.details ?? {},
  };
}
