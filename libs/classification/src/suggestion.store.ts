import { Injectable } from '@nestjs/common';
import { Database, type Tx } from '@app/platform';
import { SuggestionAlreadyReviewed, SuggestionNotFound } from './classification.errors.js';
import type { Page } from './skill.store.js';

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

const COLUMNS = `id, name, description, tool_ids AS "toolIds", suggested_by AS "suggestedBy", status,
  created_at AS "createdAt", reviewed_at AS "reviewedAt", reviewed_by AS "reviewedBy"`;

@Injectable()
export class SuggestionStore {
  constructor(private readonly database: Database) {}

  async list(
    status: SuggestionStatus | undefined,
    page: Page,
  ): Promise<{ suggestions: Suggestion[]; total: number }> {
    const [suggestions, counted] = await Promise.all([
      this.database.direct.query<Suggestion[]>(
        `SELECT ${COLUMNS} FROM mcp.skill_suggestions WHERE $1::text IS NULL OR status = $1
         ORDER BY name LIMIT $2 OFFSET $3`,
        [status ?? null, page.limit, page.offset],
      ),
      this.database.direct.query<{ total: number }[]>(
        `SELECT count(*)::int AS total FROM mcp.skill_suggestions
         WHERE $1::text IS NULL OR status = $1`,
        [status ?? null],
      ),
    ]);
    return { suggestions, total: counted[0]?.total ?? 0 };
  }

  /** Kept from another reviewer until the transaction ends. */
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
