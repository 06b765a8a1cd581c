import { Injectable } from '@nestjs/common';
import { Database, type JsonObject, type JsonValue, type Tx } from '@app/platform';
import type { Grant } from '../grants/grant.js';
import type { ToolOverride } from '../overrides/tool-override.js';
import type { View, ViewRule } from '../views/view.js';
import { groupedBy, type PolicyRows, type PolicySnapshot } from './policy-snapshot.js';

/** Changes kept in the history: an import may make thousands. */
const MAX_HISTORY = 100_000;

type ViewRow = Omit<View, 'rules'>;
type RuleRow = ViewRule & { readonly viewId: string };

/** What goes with a removed server does not advance the version, but leaves fewer rows. */
const ROW_COUNT = `(SELECT count(*) FROM mcp.views) + (SELECT count(*) FROM mcp.view_rules)
  + (SELECT count(*) FROM mcp.grants) + (SELECT count(*) FROM mcp.tool_overrides)`;
/** For `RowWatches`. */
export const POLICY_MARK = `SELECT concat_ws(' ', version, ${ROW_COUNT}) FROM mcp.policy_versions`;

/** One entry of the history; values of preset arguments are not part of it. */
export interface PolicyChangeEntry {
  /** `view.saved`, `grant.deleted`, … */
  readonly change: string;
  /** What was changed, in words. */
  readonly subject: string;
  readonly before: JsonObject | null;
  readonly after: JsonObject | null;
  readonly actor: string;
}

export interface PolicyHistoryRow extends PolicyChangeEntry {
  readonly id: string;
  readonly createdAt: Date;
}

/** The rows of views, grants, overrides and their history. */
@Injectable()
export class PolicyStore {
  constructor(private readonly database: Database) {}

  /** Outside a change: read again while others change the policy, so that the rows are of one state. */
  async readUndisturbed(): Promise<PolicyRows> {
    const { direct } = this.database.background;
    for (;;) {
      const rows = await this.read(direct);
      if ((await this.version(direct)) === rows.version) return rows;
    }
  }

  async isAsRead({ version, rowCount }: PolicySnapshot): Promise<boolean> {
    const [row] = await this.database.background.direct.query<{ isSame: boolean }[]>(
      `SELECT version = $1 AND $2 = ${ROW_COUNT} AS "isSame" FROM mcp.policy_versions`,
      [version.toString(), rowCount],
    );
    return row?.isSame === true;
  }

  /** In a transaction that holds the lock. */
  async read(tx: Tx): Promise<PolicyRows> {
    const version = await this.version(tx);
    const views = await tx.query<ViewRow[]>(
      `SELECT id, slug, title, description, budget_tokens AS "budgetTokens",
              created_at AS "createdAt", updated_at AS "updatedAt"
       FROM mcp.views ORDER BY slug`,
    );
    const rules = await tx.query<RuleRow[]>(
      `SELECT view_id AS "viewId", effect, server_id AS "serverId", kind,
              name_pattern AS "namePattern", skill_id AS "skillId", annotation
       FROM mcp.view_rules ORDER BY view_id, position`,
    );
    const grants = await tx.query<Grant[]>(
      `SELECT id, subject_kind AS "subjectKind", subject, issuer, view_id AS "viewId", level,
              expires_at AS "expiresAt", calls_per_minute AS "callsPerMinute",
              created_by AS "createdBy", created_at AS "createdAt"
       FROM mcp.grants ORDER BY created_at, id`,
    );
    const overrides = await tx.query<ToolOverride[]>(
      `SELECT id, view_id AS "viewId", server_id AS "serverId", tool, name, title, description,
              annotations, hidden_arguments AS "hiddenArguments",
              preset_arguments AS "presetArguments", budget_tokens AS "budgetTokens",
              basis_hash AS "basisHash", updated_by AS "updatedBy", updated_at AS "updatedAt"
       FROM mcp.tool_overrides ORDER BY server_id, tool, id`,
    );
    const rulesOf = groupedBy(rules, ({ viewId }) => viewId);
    return {
      version,
      views: views.map((view) => ({
        ...view,
        rules: (rulesOf.get(view.id) ?? []).map(toRule),
      })),
      grants,
      overrides,
    };
  }

  /** Changes of all processes happen one after the other. */
  async lock(tx: Tx): Promise<void> {
    await tx.query('SELECT version FROM mcp.policy_versions FOR UPDATE');
  }

  async advance(tx: Tx): Promise<void> {
    await tx.query('UPDATE mcp.policy_versions SET version = version + 1');
  }

  async saveView(view: View, tx: Tx): Promise<void> {
    await tx.query(
      `INSERT INTO mcp.views (id, slug, title, description, budget_tokens, created_at, updated_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7)
       ON CONFLICT (id) DO UPDATE SET slug = excluded.slug, title = excluded.title,
         description = excluded.description, budget_tokens = excluded.budget_tokens,
         updated_at = excluded.updated_at`,
      [
        view.id,
        view.slug,
        view.title,
        view.description,
        view.budgetTokens,
        view.createdAt,
        view.updatedAt,
      ],
    );
    await tx.query('DELETE FROM mcp.view_rules WHERE view_id = $1', [view.id]);
    const { rules } = view;
    await tx.query(
      `INSERT INTO mcp.view_rules
         (view_id, position, effect, server_id, kind, name_pattern, skill_id, annotation)
       SELECT $1::uuid, position - 1, effect, server_id, kind, name_pattern, skill_id, annotation
       FROM unnest($2::text[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[])
         WITH ORDINALITY AS rule (effect, server_id, kind, name_pattern, skill_id, annotation, position)`,
      [
        view.id,
        rules.map(({ effect }) => effect),
        rules.map(({ serverId }) => serverId),
        rules.map(({ kind }) => kind),
        rules.map(({ namePattern }) => namePattern),
        rules.map(({ skillId }) => skillId),
        rules.map(({ annotation }) => annotation),
      ],
    );
  }

  async deleteView(id: string, tx: Tx): Promise<void> {
    await tx.query('DELETE FROM mcp.views WHERE id = $1', [id]);
  }

  async saveGrant(grant: Grant, tx: Tx): Promise<void> {
    await tx.query(
      `INSERT INTO mcp.grants (id, subject_kind, subject, view_id, level, expires_at,
                               calls_per_minute, created_by, created_at, issuer)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
       ON CONFLICT (id) DO UPDATE SET level = excluded.level, expires_at = excluded.expires_at,
         calls_per_minute = excluded.calls_per_minute, created_by = excluded.created_by,
         issuer = excluded.issuer`,
      [
        grant.id,
        grant.subjectKind,
        grant.subject,
        grant.viewId,
        grant.level,
        grant.expiresAt,
        grant.callsPerMinute,
        grant.createdBy,
        grant.createdAt,
        grant.issuer,
      ],
    );
  }

  async deleteGrant(id: string, tx: Tx): Promise<void> {
    await tx.query('DELETE FROM mcp.grants WHERE id = $1', [id]);
  }

  async saveOverride(override: ToolOverride, tx: Tx): Promise<void> {
    await tx.query(
      `INSERT INTO mcp.tool_overrides (id, view_id, server_id, tool, name, title, description,
         annotations, hidden_arguments, preset_arguments, budget_tokens, basis_hash, updated_by,
         updated_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8::jsonb, $9, $10::jsonb, $11, $12, $13, $14)
       ON CONFLICT (id) DO UPDATE SET name = excluded.name, title = excluded.title,
         description = excluded.description, annotations = excluded.annotations,
         hidden_arguments = excluded.hidden_arguments,
         preset_arguments = excluded.preset_arguments, budget_tokens = excluded.budget_tokens,
         basis_hash = excluded.basis_hash, updated_by = excluded.updated_by,
         updated_at = excluded.updated_at`,
      [
        override.id,
        override.viewId,
        override.serverId,
        override.tool,
        override.name,
        override.title,
        override.description,
        override.annotations && JSON.stringify(override.annotations),
        override.hiddenArguments,
        JSON.stringify(override.presetArguments),
        override.budgetTokens,
        override.basisHash,
        override.updatedBy,
        override.updatedAt,
      ],
    );
  }

  async deleteOverride(id: string, tx: Tx): Promise<void> {
    await tx.query('DELETE FROM mcp.tool_overrides WHERE id = $1', [id]);
  }

  async note(entry: PolicyChangeEntry, tx: Tx): Promise<void> {
    const { change, subject, before, after, actor } = entry;
    await tx.query(
      `WITH added AS (
         INSERT INTO mcp.policy_history (change, subject, before, after, actor)
         VALUES ($1, $2, $3::json, $4::json, $5) RETURNING id)
       DELETE FROM mcp.policy_history WHERE id <= (SELECT id FROM added) - $6::bigint`,
      [change, subject.slice(0, 500), written(before), written(after), actor, MAX_HISTORY],
    );
  }

  /** Newest first, older than the entry `before`. */
  history(limit: number, before: string | undefined): Promise<PolicyHistoryRow[]> {
    return this.database.direct.query(
      // `ORDER BY id` would be by the text: 9 before 10.
      `SELECT id::text AS id, change, subject, before, after, actor, created_at AS "createdAt"
       FROM mcp.policy_history AS entry WHERE $2::bigint IS NULL OR id < $2::bigint
       ORDER BY entry.id DESC LIMIT $1`,
      [limit, before ?? null],
    );
  }

  private async version(tx: Tx): Promise<bigint> {
    const [row] = await tx.query<{ version: string }[]>(
      'SELECT version::text AS version FROM mcp.policy_versions',
    );
    return BigInt(row?.version ?? 0);
  }
}

function toRule({ effect, kind, serverId, namePattern, skillId, annotation }: RuleRow): ViewRule {
  return { effect, kind, serverId, namePattern, skillId, annotation };
}

function written(value: JsonValue): string | null {
  return value === null ? null : JSON.stringify(value);
}
