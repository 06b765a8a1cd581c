import { Injectable } from '@nestjs/common';
import {
  Database,
  type JsonObject,
  type KeysetPage,
  type KeysetRows,
  MAX_OFFSET,
  type Tx,
} from '@app/platform';
import type { ApprovalKind, ApprovalState, GoneTool, KnownDefinition } from './approval.js';
import type { Finding } from './findings/finding.js';

/** A definition that waits for a decision or was rejected. */
export interface Approval {
  readonly id: number;
  readonly serverId: string;
  readonly kind: ApprovalKind;
  readonly name: string;
  /** Null for what is no tool, and for a tool that the server does not list at present. */
  readonly toolId: number | null;
  readonly state: ApprovalState;
  readonly approvedHash: string | null;
  readonly approvedDefinition: JsonObject | null;
  readonly listedHash: string;
  readonly listedDefinition: JsonObject;
  readonly listedContentHash: string | null;
  readonly renamedFrom: string | null;
  readonly findings: readonly Finding[];
  readonly changedAt: Date;
  readonly decidedBy: string | null;
}

export interface DefinitionToWithhold {
  readonly name: string;
  readonly toolId: number | null;
  readonly isRejected: boolean;
  readonly approvedHash: string | null;
  readonly approvedDefinition: JsonObject | null;
  readonly listedHash: string;
  readonly listedDefinition: JsonObject;
  readonly listedContentHash: string | null;
  readonly renamedFrom: string | null;
  readonly findings: readonly Finding[];
}

export interface ApprovalFilter {
  readonly serverId?: string | undefined;
  readonly state?: ApprovalState | undefined;
}

/** Definitions that are gone are kept to compare with, this many a server and kind. */
const MAX_GONE = 1_000;
const ROWS_PER_WRITE = 500;

const COLUMNS = `id, server_id AS "serverId", kind, name, tool_id AS "toolId", state,
  approved_hash AS "approvedHash", approved_definition AS "approvedDefinition",
  listed_hash AS "listedHash", listed_definition AS "listedDefinition",
  listed_content_hash AS "listedContentHash", renamed_from AS "renamedFrom", findings,
  changed_at AS "changedAt", decided_by AS "decidedBy"`;
const WAITING = `state IN ('PENDING', 'REJECTED')`;

/** The rows of `mcp.approvals`. A caller that writes holds the lock of the server's row. */
@Injectable()
export class ApprovalStore {
  constructor(private readonly database: Database) {}

  async knownOf(serverId: string, kind: ApprovalKind, tx: Tx): Promise<KnownDefinition[]> {
    return tx.query<KnownDefinition[]>(
      `SELECT name, state, approved_hash AS "approvedHash",
              approved_definition AS "approvedDefinition", listed_hash AS "listedHash"
       FROM mcp.approvals WHERE server_id = $1 AND kind = $2 ORDER BY id DESC`,
      [serverId, kind],
    );
  }

  async withhold(
    serverId: string,
    kind: ApprovalKind,
    definitions: readonly DefinitionToWithhold[],
    tx: Tx,
  ): Promise<void> {
    for (let start = 0; start < definitions.length; start += ROWS_PER_WRITE) {
      await this.withholdSome(serverId, kind, definitions.slice(start, start + ROWS_PER_WRITE), tx);
    }
  }

  private async withholdSome(
    serverId: string,
    kind: ApprovalKind,
    some: readonly DefinitionToWithhold[],
    tx: Tx,
  ): Promise<void> {
    const json = (value: unknown): string | null => (value === null ? null : JSON.stringify(value));
    await tx.query(
      `INSERT INTO mcp.approvals AS a (server_id, kind, name, tool_id, state, approved_hash,
         approved_definition, listed_hash, listed_definition, listed_content_hash, renamed_from, findings)
       SELECT $1::uuid, $2, name, tool_id, state, approved_hash, approved::json, listed_hash, listed::json,
              content_hash, renamed_from, findings::jsonb
       FROM unnest($3::text[], $4::int[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
                   $10::text[], $11::text[], $12::text[])
         AS one (name, tool_id, state, approved_hash, approved, listed_hash, listed, content_hash,
                 renamed_from, findings)
       ON CONFLICT (server_id, kind, name) DO UPDATE
       SET tool_id = excluded.tool_id, state = excluded.state, approved_hash = excluded.approved_hash,
           approved_definition = excluded.approved_definition, listed_hash = excluded.listed_hash,
           listed_definition = excluded.listed_definition,
           listed_content_hash = excluded.listed_content_hash, renamed_from = excluded.renamed_from,
           findings = excluded.findings,
           decided_by = CASE WHEN a.listed_hash = excluded.listed_hash THEN a.decided_by END,
           changed_at = CASE WHEN a.listed_hash = excluded.listed_hash THEN a.changed_at ELSE now() END`,
      [
        serverId,
        kind,
        some.map(({ name }) => name),
        some.map(({ toolId }) => toolId),
        some.map(({ isRejected }) => (isRejected ? 'REJECTED' : 'PENDING')),
        some.map(({ approvedHash }) => approvedHash),
        some.map(({ approvedDefinition }) => json(approvedDefinition)),
        some.map(({ listedHash }) => listedHash),
        some.map(({ listedDefinition }) => json(listedDefinition)),
        some.map(({ listedContentHash }) => listedContentHash),
        some.map(({ renamedFrom }) => renamedFrom),
        some.map(({ findings }) => json(findings)),
      ],
    );
  }

  /** Keeps what was approved of definitions that are not listed any more; a rejection stays one. */
  async keepGone(
    serverId: string,
    kind: ApprovalKind,
    gone: readonly GoneTool[],
    tx: Tx,
  ): Promise<void> {
    for (let start = 0; start < gone.length; start += ROWS_PER_WRITE) {
      const some = gone.slice(start, start + ROWS_PER_WRITE);
      await tx.query(
        `INSERT INTO mcp.approvals AS a (server_id, kind, name, state, approved_hash, approved_definition)
         SELECT $1::uuid, $2, name, 'GONE', hash, definition::json
         FROM unnest($3::text[], $4::text[], $5::text[]) AS one (name, hash, definition)
         ON CONFLICT (server_id, kind, name) DO UPDATE
         SET tool_id = NULL, approved_hash = excluded.approved_hash,
             approved_definition = excluded.approved_definition, changed_at = now(),
             state = CASE WHEN a.state = 'REJECTED' THEN a.state ELSE 'GONE' END,
             listed_hash = CASE WHEN a.state = 'REJECTED' THEN a.listed_hash END,
             listed_definition = CASE WHEN a.state = 'REJECTED' THEN a.listed_definition END`,
        [
          serverId,
          kind,
          some.map(({ name }) => name),
          some.map(({ approvedHash }) => approvedHash),
          some.map(({ approvedDefinition }) => JSON.stringify(approvedDefinition)),
        ],
      );
    }
    if (gone.length === 0) return;
    await tx.query(
      `DELETE FROM mcp.approvals WHERE id IN (
         SELECT id FROM mcp.approvals WHERE server_id = $1 AND kind = $2 AND state = 'GONE'
         ORDER BY changed_at DESC, id DESC OFFSET $3)`,
      [serverId, kind, MAX_GONE],
    );
  }

  /** Forgets definitions that are offered as they are listed, or that were never approved and are gone. */
  async settle(
    serverId: string,
    kind: ApprovalKind,
    names: readonly string[],
    tx: Tx,
  ): Promise<void> {
    if (names.length === 0) return;
    await tx.query(
      'DELETE FROM mcp.approvals WHERE server_id = $1 AND kind = $2 AND name = ANY($3::text[])',
      [serverId, kind, names],
    );
  }

  /** Rejected tools that are not listed at present have no row of `mcp.tools`. */
  async unlist(toolIds: readonly number[], tx: Tx): Promise<void> {
    if (toolIds.length === 0) return;
    await tx.query('UPDATE mcp.approvals SET tool_id = NULL WHERE tool_id = ANY($1::int[])', [
      toolIds,
    ]);
  }

  /** In the order in which they were first withheld. */
  async page(filter: ApprovalFilter, page: KeysetPage): Promise<KeysetRows<Approval>> {
    const where = `${WAITING} AND ($1::uuid IS NULL OR server_id = $1::uuid)
      AND ($2::text IS NULL OR state = $2::text)`;
    const values = [filter.serverId ?? null, filter.state ?? null];
    const [rows, [count]] = await Promise.all([
      this.database.direct.query<Approval[]>(
        `SELECT ${COLUMNS} FROM mcp.approvals WHERE ${where} AND id > $3
         ORDER BY id LIMIT $4 OFFSET $5`,
        [...values, page.after ?? 0, page.limit + 1, page.offset],
      ),
      this.database.direct.query<{ counted: number }[]>(
        `SELECT count(*)::int AS counted FROM (
           SELECT 1 FROM mcp.approvals WHERE ${where} LIMIT $3) AS few`,
        [...values, MAX_OFFSET + 1],
      ),
    ]);
    return { rows, counted: count?.counted ?? 0 };
  }

  /** By its id or by that of its tool; undefined when nothing waits there. */
  async find(
    by: { readonly id: number } | { readonly toolId: number },
    tx: Tx = this.database.direct,
  ): Promise<Approval | undefined> {
    const [column, value] = 'id' in by ? ['id', by.id] : ['tool_id', by.toolId];
    const rows = await tx.query<Approval[]>(
      `SELECT ${COLUMNS} FROM mcp.approvals WHERE ${column} = $1 AND ${WAITING}`,
      [value],
    );
    return rows[0];
  }

  /** What approve-all decides on: everything of the server that waits and was not rejected. */
  async pendingOf(serverId: string, tx: Tx): Promise<Approval[]> {
    return tx.query<Approval[]>(
      `SELECT ${COLUMNS} FROM mcp.approvals WHERE server_id = $1 AND state = 'PENDING' ORDER BY id`,
      [serverId],
    );
  }

  async hashesOf(
    serverId: string,
  ): Promise<{ readonly kind: ApprovalKind; readonly state: string; readonly hash: string }[]> {
    return this.database.direct.query(
      `SELECT kind, state, listed_hash AS hash FROM mcp.approvals WHERE server_id = $1 AND ${WAITING}`,
      [serverId],
    );
  }

  async decide(id: number, state: ApprovalState, decidedBy: string, tx: Tx): Promise<void> {
    await tx.query('UPDATE mcp.approvals SET state = $2, decided_by = $3 WHERE id = $1', [
      id,
      state,
      decidedBy,
    ]);
  }

  async delete(id: number, tx: Tx): Promise<void> {
    await tx.query('DELETE FROM mcp.approvals WHERE id = $1', [id]);
  }
}
