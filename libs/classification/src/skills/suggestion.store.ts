import { Injectable } from '@nestjs/common';
import { Database, type KeysetPage, type KeysetRows, MAX_OFFSET, type Tx } from '@app/platform';
import type { SuggestedSkill } from '../classify/classifier.js';
import { SuggestionAlreadyReviewed, SuggestionNotFound } from '../classification.errors.js';

export const suggestionStatuses = ['PENDING', 'APPROVED', 'REJECTED'] as const;
export type SuggestionStatus = (typeof suggestionStatuses)[number];

export interface Suggestion {
  readonly id: number;
  readonly name: string;
  readonly description: string;
  readonly toolIds: readonly number[];
  readonly suggestedBy: string;
  readonly status: SuggestionStatus;
  readonly createdAt: Date;
  readonly reviewedAt: Date | null;
  readonly reviewedBy: string | null;
}

/** A suggested skill and the tool that led to it. */
export interface ToolSuggestion extends SuggestedSkill {
  readonly toolId: number;
  readonly serverId: string | null;
}

/** Suggestions that wait for review: in all, and from the tools of one server. */
export const MAX_PENDING = 1_000;
export const MAX_PENDING_PER_SERVER = 100;
export const MAX_TOOLS_PER_SUGGESTION = 100;

const COLUMNS = `id, name, description, tool_ids AS "toolIds", suggested_by AS "suggestedBy", status,
  created_at AS "createdAt", reviewed_at AS "reviewedAt", reviewed_by AS "reviewedBy"`;

@Injectable()
export class SuggestionStore {
  constructor(private readonly database: Database) {}

  async list(
    status: SuggestionStatus | undefined,
    page: KeysetPage,
  ): Promise<KeysetRows<Suggestion>> {
    const [rows, [count]] = await Promise.all([
      this.database.direct.query<Suggestion[]>(
        `SELECT ${COLUMNS} FROM mcp.skill_suggestions
         WHERE ($1::text IS NULL OR status = $1) AND ($4::text IS NULL OR name > $4)
         ORDER BY name LIMIT $2 OFFSET $3`,
        [status ?? null, page.limit + 1, page.offset, page.after ?? null],
      ),
      this.database.direct.query<{ counted: number }[]>(
        `SELECT count(*)::int AS counted FROM (
           SELECT 1 FROM mcp.skill_suggestions WHERE $1::text IS NULL OR status = $1 LIMIT $2) AS few`,
        [status ?? null, MAX_OFFSET + 1],
      ),
    ]);
    return { rows, counted: count?.counted ?? 0 };
  }

  /**
   * Adds suggestions, or the tools to those that exist. Over the limits, the pending ones with the fewest tools are
   * removed, of equal ones the oldest: they come back when their tools are classified again.
   */
  async add(suggestions: readonly ToolSuggestion[], by: string): Promise<void> {
    await this.database.background.transaction(async (tx) => {
      for (const { name, description, toolId, serverId } of suggestions) {
        await tx.query(
          `INSERT INTO mcp.skill_suggestions (name, description, tool_ids, suggested_by, server_id)
           SELECT $1::text, $2, ARRAY[$3::int], $4, $5::uuid
           WHERE NOT EXISTS (SELECT 1 FROM mcp.skill_categories WHERE lower(name) = lower($1::text))
           ON CONFLICT (name) DO UPDATE
           SET tool_ids = (SELECT (array_agg(DISTINCT id))[1:$6]
                           FROM unnest(skill_suggestions.tool_ids || excluded.tool_ids) AS id)`,
          [name, description, toolId, by, serverId, MAX_TOOLS_PER_SUGGESTION],
        );
      }
      await this.removeExcess('server_id', MAX_PENDING_PER_SERVER, tx);
      await this.removeExcess('NULL', MAX_PENDING, tx);
    });
  }

  private async removeExcess(per: 'server_id' | 'NULL', limit: number, tx: Tx): Promise<void> {
    await tx.query(
      `DELETE FROM mcp.skill_suggestions WHERE status = 'PENDING' AND id IN (
         SELECT id FROM (
           SELECT id, row_number() OVER (
             PARTITION BY ${per} ORDER BY cardinality(tool_ids) DESC, created_at DESC, id DESC) AS rank
           FROM mcp.skill_suggestions WHERE status = 'PENDING') AS ranked
         WHERE rank > $1)`,
      [limit],
    );
  }

  /** True when suggestions may have been removed to stay within the limits. */
  async isFull(): Promise<boolean> {
    const rows = await this.database.direct.query<{ isFull: boolean }[]>(
      `SELECT coalesce(sum(count), 0) >= $1 OR coalesce(max(count), 0) >= $2 AS "isFull"
       FROM (SELECT count(*) FROM mcp.skill_suggestions WHERE status = 'PENDING'
             GROUP BY server_id) AS by_server`,
      [MAX_PENDING, MAX_PENDING_PER_SERVER],
    );
    return rows[0]?.isFull ?? false;
  }

  /** Locks a pending suggestion until the transaction ends, against a concurrent review. */
  async lockPending(id: number, tx: Tx): Promise<Suggestion> {
    const rows = await tx.query<Suggestion[]>(
      `SELECT ${COLUMNS} FROM mcp.skill_suggestions WHERE id = $1 FOR UPDATE`,
      [id],
    );
    const found = rows[0];
    if (!found) throw new SuggestionNotFound(String(id));
    if (found.status !== 'PENDING') throw new SuggestionAlreadyReviewed(id, found.status);
    return found;
  }

  async review(id: number, status: SuggestionStatus, reviewer: string, tx: Tx): Promise<void> {
    await tx.query(
      `UPDATE mcp.skill_suggestions SET status = $2, reviewed_at = now(), reviewed_by = $3
       WHERE id = $1`,
      [id, status, reviewer],
    );
  }
}
