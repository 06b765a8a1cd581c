import { type KeysetPage, keyRange } from '@app/platform';
import type { FilterPlan } from './audit-filter.js';

export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

const COLUMNS = `id, event, outcome, actor, actor_subject, ip_address, server_id, server_name, details, timestamp`;
const SHOWN = `id::text AS id, event, outcome, actor, actor_subject AS "actorSubject", ip_address AS "ipAddress", server_id AS "serverId",
  server_name AS "serverName", details, timestamp`;

/**
 * The statements for a part of the audit log: entries of an index before an id, newest first, and of them those that
 * meet the other conditions. Materialised, so that the index is used whatever the planner guesses.
 */
export class AuditScan {
  constructor(
    private readonly plan: FilterPlan,
    /** No entry below this id is wanted. */
    private readonly bottom: string,
  ) {}

  /**
   * The entries of a page among the next `length` of the index, each beside the number of those that were looked
   * through and that are wanted, and the lowest id. One row without an entry if none is wanted.
   */
  page(before: string, { limit, offset }: KeysetPage, length: number): Statement {
    const scan = this.scan(before, COLUMNS, length);
    const { rest } = this.plan;
    const conditions = rest.map(({ sql }, i) => sql.replace('?', `$${scan.values.length + i + 1}`));
    const values = [...scan.values, ...rest.map(({ value }) => value), limit + 1, offset];
    return {
      text: `${scan.text}, wanted AS MATERIALIZED (
               SELECT * FROM scanned WHERE ${conditions.join(' AND ') || 'true'})
             SELECT bounds.*, page.* FROM (
               SELECT (SELECT count(*) FROM scanned)::int AS scanned,
                      (SELECT count(*) FROM wanted)::int AS matched,
                      (SELECT min(id) FROM scanned)::text AS lowest) AS bounds
             LEFT JOIN (
               SELECT ${SHOWN} FROM wanted ORDER BY wanted.id DESC
               LIMIT $${values.length - 1} OFFSET $${values.length}) AS page ON true`,
      values,
    };
  }

  /** The number of entries of the index, up to `most`; for a filter without other conditions. */
  count(most: number, before: string): Statement {
    const scan = this.scan(before, 'id', most);
    return {
      text: `${scan.text} SELECT count(*)::int AS counted FROM scanned`,
      values: scan.values,
    };
  }

  private scan(before: string, selected: string, length: number): Statement {
    const columns = this.plan.scope.map(({ column }) => column);
    const range = keyRange(columns);
    const given = [...this.plan.scope.map(({ value }) => value), before];
    const floor = [...columns, 'id'].join(', ');
    const atFloor = [...columns.map((_, i) => `$${i + 1}`), `$${given.length + 1}`].join(', ');
    const partial = this.plan.partial === undefined ? '' : `AND ${this.plan.partial}`;
    return {
      text: `WITH scanned AS MATERIALIZED (
               SELECT ${selected} FROM mcp.audit_log
               WHERE ${range.where} AND (${floor}) >= (${atFloor}) ${partial}
               ORDER BY ${range.newestFirst} LIMIT $${given.length + 2})`,
      values: [...given, this.bottom, length],
    };
  }
}
