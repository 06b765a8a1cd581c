import { type KeysetPage, keyRange } from '@app/platform';
import type { FilterPlan } from './audit-filter.js';

export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

const COLUMNS = `id, event, outcome, actor, ip_address, server_id, server_name, details, timestamp`;
const SHOWN = `id::text AS id, event, outcome, actor, ip_address AS "ipAddress", server_id AS "serverId",
  server_name AS "serverName", details, timestamp`;

/**
 * The statements for a part of the audit log: the newest `length` entries of an index before an id, and of them those
 * that meet the other conditions. Materialised, so that the index is used whatever the planner guesses.
 */
export class AuditScan {
  constructor(
    private readonly plan: FilterPlan,
    /** No entry below this id is wanted. */
    private readonly bottom: string,
    private readonly length: number,
  ) {}

  rows(before: string, { limit, offset }: KeysetPage): Statement {
    // Without other conditions no more has to be read than is shown.
    const length = this.plan.rest.length > 0 ? this.length : limit + 1 + offset;
    const scan = this.scan(before, length);
    const { sql, values } = this.rest(scan.values.length);
    const all = [...scan.values, ...values, limit + 1, offset];
    return {
      text: `${scan.text} SELECT ${SHOWN} FROM scanned WHERE ${sql}
             ORDER BY scanned.id DESC LIMIT $${all.length - 1} OFFSET $${all.length}`,
      values: all,
    };
  }

  /** How many entries were looked through, how many of them are wanted, and the lowest id. */
  bounds(before: string): Statement {
    const scan = this.scan(before, this.length);
    const { sql, values } = this.rest(scan.values.length);
    return {
      text: `${scan.text} SELECT count(*)::int AS scanned, count(*) FILTER (WHERE ${sql})::int AS matched,
             min(id)::text AS lowest FROM scanned`,
      values: [...scan.values, ...values],
    };
  }

  private scan(before: string, length: number): Statement {
    const columns = this.plan.scope.map(({ column }) => column);
    const range = keyRange(columns);
    const given = [...this.plan.scope.map(({ value }) => value), before];
    const floor = [...columns, 'id'].join(', ');
    const atFloor = [...columns.map((_, i) => `$${i + 1}`), `$${given.length + 1}`].join(', ');
    const partial = this.plan.partial === undefined ? '' : `AND ${this.plan.partial}`;
    return {
      text: `WITH scanned AS MATERIALIZED (
               SELECT ${COLUMNS} FROM mcp.audit_log
               WHERE ${range.where} AND (${floor}) >= (${atFloor}) ${partial}
               ORDER BY ${range.newestFirst} LIMIT $${given.length + 2})`,
      values: [...given, this.bottom, length],
    };
  }

  private rest(before: number): { readonly sql: string; readonly values: readonly unknown[] } {
    const { rest } = this.plan;
    const conditions = rest.map(({ sql }, i) => sql.replace('?', `$${before + i + 1}`));
    return { sql: conditions.join(' AND ') || 'true', values: rest.map(({ value }) => value) };
  }
}
