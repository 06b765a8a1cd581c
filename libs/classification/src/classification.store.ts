import { Injectable } from '@nestjs/common';
import { Database, type JsonObject, type Tx } from '@app/platform';
import { UnknownTool } from './classification.errors.js';
import { LOCAL, type SuggestedSkill } from './classifier.js';
import type { Assignment } from './skill.js';

/** A tool taken out of the queue, as it was then. */
export interface ClaimedTool {
  readonly id: number;
  readonly originalName: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly contentHash: string;
  readonly serverId: string | null;
  readonly serverName: string | null;
  readonly serverDescription: string | null;
}

export interface Outcome {
  readonly tool: Pick<ClaimedTool, 'id' | 'contentHash'>;
  /** None: nothing was sure enough. */
  readonly assignments: readonly Assignment[];
}

export interface TouchedTool {
  readonly id: number;
  readonly serverId: string;
}

/** Whoever took a tool and died gives it back after this. */
const LEASE = '5 minutes';
/** A failing model is asked again after 30 s, then ever later, at most every ten minutes. */
const RETRY = `least(interval '30 seconds' * power(2, least(attempts, 5)), interval '10 minutes')`;

/**
 * Which tools wait for classification, and what came out. The queue is rows: a crash loses nothing,
 * and replicas share the work (FOR UPDATE SKIP LOCKED).
 */
@Injectable()
export class ClassificationStore {
  constructor(private readonly database: Database) {}

  /** Differs when tools were written since: only then can `enqueue` find any. */
  writes(): Promise<string> {
    return this.database.writesTo('mcp.tools');
  }

  /** Tools that are new or have changed, of these or of all, become due; those a human has decided on keep the decision. */
  async enqueue(toolIds?: readonly number[]): Promise<void> {
    const among = '($1::int[] IS NULL OR t.id = ANY($1::int[]))';
    const ids = [toolIds ?? null];
    await this.database.direct.query(
      `INSERT INTO mcp.tool_classifications (tool_id, content_hash)
       SELECT t.id, t.content_hash FROM mcp.tools t
       LEFT JOIN mcp.tool_classifications c ON c.tool_id = t.id
       WHERE c.tool_id IS NULL AND ${among}
       ON CONFLICT DO NOTHING`,
      ids,
    );
    await this.database.direct.query(
      `UPDATE mcp.tool_classifications c
       SET content_hash = t.content_hash, classified_by = NULL, due_at = now(), attempts = 0,
           updated_at = now()
       FROM mcp.tools t
       WHERE t.id = c.tool_id AND t.content_hash <> c.content_hash AND NOT c.is_override AND ${among}`,
      ids,
    );
    await this.database.direct.query(
      `UPDATE mcp.tools t SET is_classified = true
       FROM mcp.tool_classifications c
       WHERE c.tool_id = t.id AND c.is_override AND NOT t.is_classified AND ${among}`,
      ids,
    );
  }

  /** Takes up to `limit` due tools, those without any verdict first; nobody else gets them until the lease ends. */
  async claim(limit: number): Promise<ClaimedTool[]> {
    return this.database.transaction(async (tx) => {
      const due = await tx.query<{ tool_id: number }[]>(
        `SELECT tool_id FROM mcp.tool_classifications WHERE due_at <= now()
         ORDER BY classified_by IS NOT NULL, due_at, tool_id LIMIT $1 FOR UPDATE SKIP LOCKED`,
        [limit],
      );
      const ids = due.map((row) => row.tool_id);
      await tx.query(
        `UPDATE mcp.tool_classifications
         SET state = 'CLASSIFYING', due_at = now() + interval '${LEASE}', updated_at = now()
         WHERE tool_id = ANY($1::int[])`,
        [ids],
      );
      return tx.query<ClaimedTool[]>(
        `SELECT t.id, t.original_name AS "originalName", t.description,
                t.input_schema AS "inputSchema", t.content_hash AS "contentHash",
                s.id AS "serverId", s.name AS "serverName", s.description AS "serverDescription"
         FROM mcp.tools t LEFT JOIN mcp.external_servers s ON s.id = t.source_server_id
         WHERE t.id = ANY($1::int[]) ORDER BY t.id`,
        [ids],
      );
    });
  }

  /** Writes what came out; tools that changed, went or were decided on meanwhile are left alone. */
  async settle(outcomes: readonly Outcome[], classifiedBy: string): Promise<number[]> {
    return this.database.transaction(async (tx) => {
      const current = await tx.query<{ id: number }[]>(
        `SELECT t.id FROM mcp.tools t
         JOIN mcp.tool_classifications c ON c.tool_id = t.id
         JOIN unnest($1::int[], $2::text[]) AS o (id, content_hash)
           ON o.id = t.id AND o.content_hash = t.content_hash
         WHERE NOT c.is_override ORDER BY t.id FOR UPDATE OF t`,
        [outcomes.map(({ tool }) => tool.id), outcomes.map(({ tool }) => tool.contentHash)],
      );
      const ids = new Set(current.map((row) => row.id));
      const kept = outcomes.filter(({ tool }) => ids.has(tool.id));
      await this.replaceAssignments(kept, tx);
      await tx.query(
        `UPDATE mcp.tool_classifications c
         SET state = CASE WHEN t.is_classified THEN 'CLASSIFIED' ELSE 'UNCLASSIFIED' END,
             classified_by = $2, due_at = NULL, attempts = 0, last_error = NULL, updated_at = now()
         FROM mcp.tools t WHERE t.id = c.tool_id AND c.tool_id = ANY($1::int[])`,
        [[...ids], classifiedBy],
      );
      return [...ids];
    });
  }

  /** Nothing came out: tried again later (EC-009). */
  async postpone(toolIds: readonly number[], reason: string): Promise<void> {
    await this.database.direct.query(
      `UPDATE mcp.tool_classifications
       SET state = 'UNCLASSIFIED', attempts = attempts + 1, last_error = $2,
           due_at = now() + ${RETRY}, updated_at = now()
       WHERE tool_id = ANY($1::int[]) AND NOT is_override`,
      [toolIds, reason],
    );
  }

  /** Everything is looked at again: the taxonomy is another one. */
  async requeueAll(tx: Tx): Promise<void> {
    await tx.query(
      `UPDATE mcp.tool_classifications SET due_at = now(), attempts = 0 WHERE NOT is_override`,
    );
  }

  /** What another local model has decided is looked at again; until then, and when that fails, it stands. */
  async requeueLocal(classifier: string): Promise<void> {
    await this.database.direct.query(
      `UPDATE mcp.tool_classifications SET due_at = now(), attempts = 0
       WHERE classified_by LIKE '${LOCAL}%' AND classified_by <> $1
         AND due_at IS NULL AND NOT is_override`,
      [classifier],
    );
  }

  /** What a failing model left is tried now: it answers again. */
  async retryFailed(): Promise<void> {
    await this.database.direct.query(
      `UPDATE mcp.tool_classifications SET due_at = now()
       WHERE state = 'UNCLASSIFIED' AND attempts > 0 AND due_at > now()`,
    );
  }

  /** A human's decision, which no classifier changes. */
  async override(
    toolId: number,
    assignments: readonly Assignment[],
    actor: string,
    tx: Tx,
  ): Promise<TouchedTool[]> {
    const tools = await tx.query<{ contentHash: string }[]>(
      'SELECT content_hash AS "contentHash" FROM mcp.tools WHERE id = $1 FOR UPDATE',
      [toolId],
    );
    const contentHash = tools[0]?.contentHash;
    if (contentHash === undefined) throw new UnknownTool(String(toolId));
    await this.replaceAssignments([{ tool: { id: toolId, contentHash }, assignments }], tx);
    await tx.query(`UPDATE mcp.tools SET is_classified = true WHERE id = $1`, [toolId]);
    await tx.query(
      `INSERT INTO mcp.tool_classifications
         (tool_id, state, content_hash, classified_by, is_override, due_at)
       VALUES ($1, 'CLASSIFIED', $2, $3, true, NULL)
       ON CONFLICT (tool_id) DO UPDATE
       SET state = excluded.state, content_hash = excluded.content_hash, is_override = true,
           classified_by = excluded.classified_by, due_at = NULL, attempts = 0, last_error = NULL,
           updated_at = now()`,
      [toolId, contentHash, `human:${actor}`],
    );
    return touchedBy(tx, 'id = $1', toolId);
  }

  async dropOverride(toolId: number, tx: Tx): Promise<void> {
    const rows = await tx.query<unknown[]>('SELECT 1 FROM mcp.tools WHERE id = $1', [toolId]);
    if (rows.length === 0) throw new UnknownTool(String(toolId));
    await tx.query(
      `UPDATE mcp.tool_classifications SET is_override = false, due_at = now(), updated_at = now()
       WHERE tool_id = $1`,
      [toolId],
    );
  }

  /** Skills that were switched off leave the tools that had them, overridden ones too. */
  async removeSkill(skillId: string, tx: Tx): Promise<TouchedTool[]> {
    await tx.query('DELETE FROM mcp.tool_skill_assignments WHERE skill_id = $1', [skillId]);
    const touched = await touchedBy(tx, '$1 = ANY(skill_ids)', skillId);
    await tx.query(
      `UPDATE mcp.tools SET skill_ids = array_remove(skill_ids, $1),
              primary_skill_id = nullif(primary_skill_id, $1), updated_at = now()
       WHERE $1 = ANY(skill_ids)`,
      [skillId],
    );
    return touched;
  }

  /** The assignments of these tools, or of all. */
  assignments(
    toolIds?: readonly number[],
  ): Promise<{ toolId: number; skillId: string; confidence: number }[]> {
    return this.database.direct.query(
      `SELECT tool_id AS "toolId", skill_id AS "skillId", confidence
       FROM mcp.tool_skill_assignments
       WHERE $1::int[] IS NULL OR tool_id = ANY($1::int[])
       ORDER BY tool_id, confidence DESC, skill_id`,
      [toolIds ?? null],
    );
  }

  async suggest(suggestion: SuggestedSkill, toolId: number, by: string): Promise<void> {
    await this.database.direct.query(
      `INSERT INTO mcp.skill_suggestions (name, description, tool_ids, suggested_by)
       SELECT $1::text, $2, ARRAY[$3::int], $4
       WHERE NOT EXISTS (SELECT 1 FROM mcp.skill_categories WHERE lower(name) = lower($1::text))
       ON CONFLICT (name) DO UPDATE
       SET tool_ids = (SELECT array_agg(DISTINCT id) FROM unnest(skill_suggestions.tool_ids || excluded.tool_ids) AS id)`,
      [suggestion.name, suggestion.description, toolId, by],
    );
  }

  private async replaceAssignments(outcomes: readonly Outcome[], tx: Tx): Promise<void> {
    const ids = outcomes.map(({ tool }) => tool.id);
    const rows = outcomes.flatMap(({ tool, assignments }) =>
      assignments.map(({ skillId, confidence }, rank) => ({
        toolId: tool.id,
        skillId,
        confidence,
        isPrimary: rank === 0,
      })),
    );
    await tx.query('DELETE FROM mcp.tool_skill_assignments WHERE tool_id = ANY($1::int[])', [ids]);
    await tx.query(
      `INSERT INTO mcp.tool_skill_assignments (tool_id, skill_id, confidence, is_primary)
       SELECT * FROM unnest($1::int[], $2::text[], $3::real[], $4::boolean[])`,
      [
        rows.map((row) => row.toolId),
        rows.map((row) => row.skillId),
        rows.map((row) => row.confidence),
        rows.map((row) => row.isPrimary),
      ],
    );
    await tx.query(
      `UPDATE mcp.tools t SET
         skill_ids = coalesce(a.skill_ids, '{}'), primary_skill_id = a.skill_ids[1],
         is_classified = a.skill_ids IS NOT NULL, updated_at = now()
       FROM unnest($1::int[]) AS o (id)
       LEFT JOIN (
         SELECT tool_id, array_agg(skill_id::text ORDER BY is_primary DESC, confidence DESC, skill_id) AS skill_ids
         FROM mcp.tool_skill_assignments WHERE tool_id = ANY($1::int[]) GROUP BY tool_id
       ) a ON a.tool_id = o.id
       WHERE t.id = o.id`,
      [ids],
    );
  }
}

/** Tools with a server: those of the aggregator itself are in no catalogue of rows. */
function touchedBy(tx: Tx, condition: string, value: unknown): Promise<TouchedTool[]> {
  return tx.query(
    `SELECT id, source_server_id AS "serverId" FROM mcp.tools
     WHERE ${condition} AND source_server_id IS NOT NULL`,
    [value],
  );
}
