import { Injectable } from '@nestjs/common';
import { Database, type JsonObject, type Tx } from '@app/platform';
import { In } from 'typeorm';
import type { StaleRows } from './catalogue-change.js';
import type { CatalogueTool } from './catalogue-snapshot.js';
import {
  type DiscoveredTool,
  partsOf,
  type StoredTool,
  type ToolDiff,
  type ToolToWrite,
} from './tool-definition.js';
import { type ServerNames, toCatalogueTool, type ToolRow } from './tool-row.js';
import { ToolEntity } from './tool.entity.js';
import { readWithheld } from './withheld.js';

/** A statement has at most 65,535 bind parameters (16 bits). */
const ROWS_PER_INSERT = 500;
/** Batch size: the embedded database blocks the event loop for some 12 ms per batch. */
const ROWS_PER_READ = 1_000;
/** Batch size for rows without a definition, for the same reason. */
const STAMPS_PER_READ = 5_000;

/** A changed tool keeps the name in its row until it is classified again. */
const CLASSIFIED_BY = 'CASE WHEN is_classified THEN classified_by END';

/** Of a `ToolRow`. */
const COLUMNS = `id, name, original_name, source_server_id, is_external, content_hash, withheld,
  skill_ids,
  primary_skill_id, is_classified, ${CLASSIFIED_BY} AS classified_by, discovered_at`;

export interface HeldTool {
  readonly id: number;
  /** Null for an own tool. */
  readonly serverId: string | null;
  readonly contentHash: string;
}

export interface ToolStamp {
  readonly id: number;
  readonly contentHash: string;
  readonly isClassified: boolean;
}

export interface SkillsOfTool {
  readonly toolId: number;
  /** Primary skill first. Empty: the tool counts as unclassified. */
  readonly skillIds: readonly string[];
  /** The content that was classified: a tool with another one keeps its skills. */
  readonly contentHash?: string | undefined;
}

/** Owns the SQL on `mcp.tools`. A caller that writes refreshes the catalogue afterwards with the changed rows. */
@Injectable()
export class ToolStore {
  constructor(private readonly database: Database) {}

  /**
   * Loads rows as tools. An unchanged tool in `held` is returned as the same object, and its definition is not
   * read again. The row of another tool is read once, with its definition.
   */
  async read(
    stale: Pick<StaleRows, 'toolsOf' | 'tools'>,
    held: ReadonlyMap<number, CatalogueTool> = new Map(),
  ): Promise<CatalogueTool[]> {
    const ids = await this.idsOf(stale);
    const servers = new Map<string, ServerNames>();
    const tools: CatalogueTool[] = [];
    for (let start = 0; start < ids.length; start += ROWS_PER_READ) {
      tools.push(...(await this.readSome(ids.slice(start, start + ROWS_PER_READ), held, servers)));
    }
    return tools;
  }

  private async idsOf({ toolsOf, tools }: Pick<StaleRows, 'toolsOf' | 'tools'>): Promise<number[]> {
    if (toolsOf !== 'all' && toolsOf.size === 0) return [...tools];
    const rows = await this.database.background.direct.query<{ id: number }[]>(
      `SELECT id FROM mcp.tools
       WHERE $1::uuid[] IS NULL OR source_server_id = ANY($1::uuid[]) OR id = ANY($2::int[])`,
      [toolsOf === 'all' ? null : [...toolsOf], [...tools]],
    );
    return rows.map(({ id }) => id);
  }

  private async readSome(
    ids: readonly number[],
    held: ReadonlyMap<number, CatalogueTool>,
    servers: Map<string, ServerNames>,
  ): Promise<CatalogueTool[]> {
    const unread = ids.filter((id) => !held.has(id));
    const tools: CatalogueTool[] = [];
    for (const row of await this.rows(ids.filter((id) => held.has(id)))) {
      const known = held.get(row.id);
      if (known?.contentHash !== row.content_hash) unread.push(row.id);
      else tools.push(toCatalogueTool(row, known, known, servers));
    }
    for (const row of await this.describedRows(unread)) {
      const { definition } = row;
      const parts = { definition, ...partsOf(definition) };
      tools.push(toCatalogueTool(row, parts, undefined, servers));
    }
    return tools;
  }

  private async rows(ids: readonly number[]): Promise<ToolRow[]> {
    if (ids.length === 0) return [];
    return this.database.background.direct.query<ToolRow[]>(
      `SELECT ${COLUMNS} FROM mcp.tools WHERE id = ANY($1::int[])`,
      [ids],
    );
  }

  private async describedRows(
    ids: readonly number[],
  ): Promise<(ToolRow & { readonly definition: JsonObject })[]> {
    if (ids.length === 0) return [];
    return this.database.background.direct.query<(ToolRow & { definition: JsonObject })[]>(
      `SELECT ${COLUMNS}, definition FROM mcp.tools WHERE id = ANY($1::int[])`,
      [ids],
    );
  }

  /** A value that changes with every write to the table, even one without a difference. */
  writes(tx?: Tx): Promise<string> {
    return this.database.background.writesTo('mcp.tools', tx);
  }

  /** Time of the last write to a tool of a server. */
  async lastWrittenAt(): Promise<Date | null> {
    const rows = await this.database.direct.query<{ at: Date | null }[]>(
      'SELECT max(updated_at) AS at FROM mcp.tools WHERE is_external',
    );
    return rows[0]?.at ?? null;
  }

  /** Hash per server, '' for own tools; must match `digestsOf` of a catalogue. */
  async digests(): Promise<ReadonlyMap<string, string>> {
    const rows = await this.database.background.direct.query<{ server: string; digest: string }[]>(
      `SELECT coalesce(source_server_id::text, '') AS server, md5(string_agg(
         concat_ws(' ', id, name, content_hash, coalesce(withheld ->> 'hash', ''), is_classified, array_to_string(skill_ids, ','),
                   coalesce(${CLASSIFIED_BY}, '')), ';' ORDER BY id)) AS digest
       FROM mcp.tools GROUP BY 1`,
    );
    return new Map(rows.map(({ server, digest }) => [server, digest]));
  }

  /** The columns of all offered tools that show whether they changed, in batches. */
  async *stamps(): AsyncGenerator<readonly ToolStamp[]> {
    for (let after = 0; ;) {
      const stamps = await this.database.background.direct.query<ToolStamp[]>(
        `SELECT id, content_hash AS "contentHash", is_classified AS "isClassified"
         FROM mcp.tools WHERE id > $1 AND withheld IS NULL ORDER BY id LIMIT $2`,
        [after, STAMPS_PER_READ],
      );
      const last = stamps.at(-1);
      if (!last) return;
      yield stamps;
      after = last.id;
    }
  }

  /** The stored tools that discovery compares with. */
  async ofServer(serverId: string, tx: Tx): Promise<StoredTool[]> {
    const rows = await tx.find(ToolEntity, {
      select: { id: true, originalName: true, contentHash: true, pinHash: true, withheld: true },
      where: { sourceServerId: serverId },
    });
    return rows.map(({ id, originalName, contentHash, pinHash, withheld }) => ({
      id,
      originalName,
      contentHash,
      pinHash,
      withheld: readWithheld(withheld),
    }));
  }

  /** As stored, by tool id. */
  async definitionsOf(toolIds: readonly number[], tx: Tx): Promise<Map<number, JsonObject>> {
    const definitions = new Map<number, JsonObject>();
    for (let start = 0; start < toolIds.length; start += ROWS_PER_READ) {
      const rows = await tx.query<{ id: number; definition: JsonObject }[]>(
        'SELECT id, definition FROM mcp.tools WHERE id = ANY($1::int[])',
        [toolIds.slice(start, start + ROWS_PER_READ)],
      );
      for (const { id, definition } of rows) definitions.set(id, definition);
    }
    return definitions;
  }

  /** Replaces all own tools; returns the ids of those written and removed. */
  async replaceOwn(tools: readonly DiscoveredTool[], tx: Tx): Promise<number[]> {
    const removed = await tx.query<{ id: number }[]>(
      `WITH gone AS (DELETE FROM mcp.tools WHERE NOT is_external AND name <> ALL($1) RETURNING id)
       SELECT id FROM gone`,
      [tools.map((tool) => tool.originalName)],
    );
    const written = await tx.query<{ id: number }[]>(
      `INSERT INTO mcp.tools
         (name, original_name, title, description, input_schema, definition, content_hash)
       SELECT name, name, title, description, input_schema::json, definition::json, content_hash
       FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
         AS own (name, title, description, input_schema, definition, content_hash)
       ON CONFLICT (name) DO UPDATE
       SET title = excluded.title, description = excluded.description,
           input_schema = excluded.input_schema, definition = excluded.definition,
           content_hash = excluded.content_hash, is_classified = false, updated_at = now()
       WHERE tools.content_hash <> excluded.content_hash
       RETURNING id`,
      [
        tools.map((tool) => tool.originalName),
        tools.map((tool) => tool.title),
        tools.map((tool) => tool.description),
        tools.map((tool) => JSON.stringify(tool.inputSchema)),
        tools.map((tool) => JSON.stringify(tool.definition)),
        tools.map((tool) => tool.contentHash),
      ],
    );
    return [...removed, ...written].map(({ id }) => id);
  }

  /**
   * Returns the ids of the added tools. `written` is called after each batch with the number of tools written so
   * far.
   */
  async apply(
    serverId: string,
    serverName: string,
    diff: ToolDiff,
    written: (tools: number) => void,
    tx: Tx,
  ): Promise<number[]> {
    if (diff.removed.length > 0) await tx.delete(ToolEntity, { id: In([...diff.removed]) });
    for (const tool of diff.changed) await this.rewrite(tool.id, tool, tx);
    await this.mark(diff.marked, tx);
    await this.pin(diff.pinned, tx);
    const added: number[] = [];
    for (let start = 0; start < diff.added.length; start += ROWS_PER_INSERT) {
      const rows = diff.added.slice(start, start + ROWS_PER_INSERT).map((tool) => ({
        ...columnsOf(tool),
        name: `${serverName}.${tool.originalName}`,
        sourceServerId: serverId,
        isExternal: true,
      }));
      const inserted = await tx.insert(ToolEntity, rows);
      added.push(...inserted.identifiers.map((identifier) => Number(identifier['id'])));
      written(diff.changed.length + added.length);
    }
    return added;
  }

  /** Replaces the definition of a tool, which is classified again. */
  async rewrite(toolId: number, tool: ToolToWrite, tx: Tx): Promise<void> {
    await tx.update(
      ToolEntity,
      { id: toolId },
      { ...columnsOf(tool), isClassified: false, updatedAt: () => 'now()' },
    );
  }

  /** Withholds tools, or offers them again, with the definition in the row. */
  async mark(tools: ToolDiff['marked'], tx: Tx): Promise<void> {
    for (const { id, withheld } of tools) {
      await tx.update(ToolEntity, { id }, { withheld, updatedAt: () => 'now()' });
    }
  }

  private async pin(tools: ToolDiff['pinned'], tx: Tx): Promise<void> {
    if (tools.length === 0) return;
    await tx.query(
      `UPDATE mcp.tools t SET pin_hash = p.hash
       FROM unnest($1::int[], $2::text[]) AS p (id, hash) WHERE t.id = p.id`,
      [tools.map(({ id }) => id), tools.map(({ pinHash }) => pinHash)],
    );
  }

  /** Renames all tools of a renamed server, in the same transaction (contract EC-008). */
  async rename(serverId: string, serverName: string, tx: Tx): Promise<void> {
    await tx.query(
      `UPDATE mcp.tools SET name = $2 || '.' || original_name, updated_at = now()
       WHERE source_server_id = $1`,
      [serverId, serverName],
    );
  }

  /** Existing tools among these ids, locked until the transaction ends. */
  async hold(toolIds: readonly number[], tx: Tx): Promise<HeldTool[]> {
    return tx.query<HeldTool[]>(
      `SELECT id, source_server_id AS "serverId", content_hash AS "contentHash"
       FROM mcp.tools WHERE id = ANY($1::int[]) ORDER BY id FOR UPDATE`,
      [toolIds],
    );
  }

  /** Returns the ids of the tools that were written; their rows are locked until the transaction ends. */
  async setSkills(tools: readonly SkillsOfTool[], classifiedBy: string, tx: Tx): Promise<number[]> {
    const rows = await tx.query<{ id: number }[]>(
      `WITH written AS (
         UPDATE mcp.tools t
         SET skill_ids = s.skills, primary_skill_id = s.skills[1], is_classified = cardinality(s.skills) > 0,
             classified_by = $4, updated_at = now()
         FROM (SELECT id, hash, ARRAY(SELECT jsonb_array_elements_text(skills)) AS skills
               FROM unnest($1::int[], $2::text[], $3::jsonb[]) AS given (id, hash, skills)) s
         WHERE t.id = s.id AND t.content_hash = coalesce(s.hash, t.content_hash)
         RETURNING t.id)
       SELECT id FROM written`,
      [
        tools.map(({ toolId }) => toolId),
        tools.map(({ contentHash }) => contentHash ?? null),
        tools.map(({ skillIds }) => JSON.stringify(skillIds)),
        classifiedBy,
      ],
    );
    return rows.map(({ id }) => id);
  }

  /** An override by a person counts as classified, even without any skill. */
  async markClassified(toolIds: readonly number[], tx: Tx): Promise<void> {
    await tx.query(
      'UPDATE mcp.tools SET is_classified = true WHERE id = ANY($1::int[]) AND NOT is_classified',
      [toolIds],
    );
  }

  /** Returns the ids of the tools that had the skill. */
  async removeSkill(skillId: string, tx: Tx): Promise<number[]> {
    const rows = await tx.query<{ id: number }[]>(
      `WITH touched AS (
         UPDATE mcp.tools SET skill_ids = array_remove(skill_ids, $1),
                primary_skill_id = nullif(primary_skill_id, $1), updated_at = now()
         WHERE $1 = ANY(skill_ids) RETURNING id)
       SELECT id FROM touched`,
      [skillId],
    );
    return rows.map(({ id }) => id);
  }
}

function columnsOf(
  tool: ToolToWrite,
): Pick<
  ToolEntity,
  | 'originalName'
  | 'title'
  | 'description'
  | 'inputSchema'
  | 'definition'
  | 'contentHash'
  | 'pinHash'
  | 'withheld'
> {
  const { originalName, title, description, inputSchema, definition } = tool;
  const { contentHash, pinHash, withheld } = tool;
  const texts = { originalName, title, description, inputSchema, definition };
  return { ...texts, contentHash, pinHash, withheld };
}
