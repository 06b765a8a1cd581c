import { Injectable } from '@nestjs/common';
import { Database, type JsonObject, type Tx, writesMark } from '@app/platform';
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
import { ToolDigests } from './snapshot/tool-digests.js';
import { readWithheld } from './withheld.js';

/** Batch size: the embedded database blocks the event loop for some 10 ms per batch. */
const ROWS_PER_WRITE = 150;
/** Batch size: the embedded database blocks the event loop for some 8 ms per batch. */
const ROWS_PER_READ = 500;
/** Of the whole table, for the same reason. In the order on disk a row is read four times as fast as by its id. */
const PAGES_PER_READ = 100;
const IN_PAGES = 'ctid >= $1::tid AND ctid < $2::tid';

/** For `RowWatches`: there may be 100,000 tools. */
export const TOOLS_MARK = writesMark('mcp.tools');

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

type DescribedRow = ToolRow & { readonly definition: JsonObject };

interface DigestRow {
  readonly server: string;
  readonly tools: number;
  readonly a: string;
  readonly b: string;
}

export interface SkillsOfTool {
  readonly toolId: number;
  /** Primary skill first. Empty: the tool counts as unclassified. */
  readonly skillIds: readonly string[];
  /** The content that was classified: a tool with another one keeps its skills. */
  readonly contentHash?: string | undefined;
}

/** 32 bits of a hash in hex, as `ToolDigests` reads them. */
const bitsOf = (hash: string, from: number): string =>
  `('x' || substr(${hash}, ${from}, 8))::bit(32)::bigint`;

/** Tools as they were read before, by id. */
export type HeldTools = Pick<ReadonlyMap<number, CatalogueTool>, 'get' | 'has' | 'size'>;

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
    held: HeldTools = new Map<number, CatalogueTool>(),
  ): Promise<CatalogueTool[]> {
    const servers = new Map<string, ServerNames>();
    if (stale.toolsOf === 'all' && held.size === 0) return this.readAll(servers);
    const ids = await this.idsOf(stale);
    const tools: CatalogueTool[] = [];
    for (let start = 0; start < ids.length; start += ROWS_PER_READ) {
      tools.push(...(await this.readSome(ids.slice(start, start + ROWS_PER_READ), held, servers)));
    }
    return tools;
  }

  /** A row that another replica writes meanwhile may be read twice or not at all, and is then read by its id. */
  private async readAll(servers: Map<string, ServerNames>): Promise<CatalogueTool[]> {
    const tools = new Map<number, CatalogueTool>();
    for await (const pages of this.pages()) {
      const rows = await this.database.background.direct.query<DescribedRow[]>(
        `SELECT ${COLUMNS}, definition FROM mcp.tools WHERE ${IN_PAGES}`,
        pages,
      );
      for (const row of rows) tools.set(row.id, toTool(row, servers));
    }
    if (await this.areAll([...tools.keys()])) return [...tools.values()];
    const ids = await this.idsOf({ toolsOf: 'all', tools: new Set() });
    const missing = ids.filter((id) => !tools.has(id));
    const known = ids.flatMap((id) => tools.get(id) ?? []);
    return [...known, ...(await this.readSome(missing, new Map(), servers))];
  }

  /** New tools have higher ids than removed ones, so that as many others have another sum. */
  private async areAll(ids: readonly number[]): Promise<boolean> {
    const rows = await this.database.background.direct.query<{ tools: number; sum: number }[]>(
      'SELECT count(*)::int AS tools, coalesce(sum(id), 0)::float8 AS sum FROM mcp.tools',
    );
    const sum = ids.reduce((total, id) => total + id, 0);
    return rows[0]?.tools === ids.length && rows[0].sum === sum;
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
    held: HeldTools,
    servers: Map<string, ServerNames>,
  ): Promise<CatalogueTool[]> {
    const unread = ids.filter((id) => !held.has(id));
    const tools: CatalogueTool[] = [];
    for (const row of await this.rows(ids.filter((id) => held.has(id)))) {
      const known = held.get(row.id);
      if (known?.contentHash !== row.content_hash) unread.push(row.id);
      else tools.push(toCatalogueTool(row, known, known, servers));
    }
    for (const row of await this.describedRows(unread)) tools.push(toTool(row, servers));
    return tools;
  }

  private async rows(ids: readonly number[]): Promise<ToolRow[]> {
    if (ids.length === 0) return [];
    return this.database.background.direct.query<ToolRow[]>(
      `SELECT ${COLUMNS} FROM mcp.tools WHERE id = ANY($1::int[])`,
      [ids],
    );
  }

  private async describedRows(ids: readonly number[]): Promise<DescribedRow[]> {
    if (ids.length === 0) return [];
    return this.database.background.direct.query<DescribedRow[]>(
      `SELECT ${COLUMNS}, definition FROM mcp.tools WHERE id = ANY($1::int[])`,
      [ids],
    );
  }

  /** A value that changes with every write to the table, even one without a difference. */
  async writes(): Promise<string> {
    const { direct } = this.database.background;
    const [row] = await direct.query<{ writes: string }[]>(`SELECT (${TOOLS_MARK}) AS writes`);
    return row?.writes ?? '';
  }

  /** Time of the last write to a tool of a server. */
  async lastWrittenAt(): Promise<Date | null> {
    const rows = await this.database.direct.query<{ at: Date | null }[]>(
      'SELECT max(updated_at) AS at FROM mcp.tools WHERE is_external',
    );
    return rows[0]?.at ?? null;
  }

  /** Digest per server, '' for own tools; must match `digestsOf` of a catalogue. */
  async digests(): Promise<ReadonlyMap<string, string>> {
    const digests = new ToolDigests();
    for await (const pages of this.pages()) {
      const rows = await this.database.background.direct.query<DigestRow[]>(
        `SELECT server, count(*)::int AS tools, sum(${bitsOf('hash', 1)})::text AS a, sum(${bitsOf('hash', 9)})::text AS b
         FROM (SELECT coalesce(source_server_id::text, '') AS server, md5(
                 concat_ws(' ', id, name, content_hash, coalesce(withheld ->> 'hash', ''), is_classified,
                           array_to_string(skill_ids, ','), coalesce(${CLASSIFIED_BY}, ''))) AS hash
               FROM mcp.tools WHERE ${IN_PAGES}) lines
         GROUP BY server`,
        pages,
      );
      for (const { server, tools, a, b } of rows) digests.add(server, tools, BigInt(a), BigInt(b));
    }
    return digests.all();
  }

  /** The columns of all offered tools that show whether they changed, in batches; one written meanwhile may be missing. */
  async *stamps(): AsyncGenerator<readonly ToolStamp[]> {
    for await (const pages of this.pages()) {
      yield await this.database.background.direct.query<ToolStamp[]>(
        `SELECT id, content_hash AS "contentHash", is_classified AS "isClassified"
         FROM mcp.tools WHERE ${IN_PAGES} AND withheld IS NULL ORDER BY id`,
        pages,
      );
    }
  }

  /** The bounds of parts of the table. */
  private async *pages(): AsyncGenerator<readonly [string, string]> {
    let count = 0;
    for (let page = 0; ; page += PAGES_PER_READ) {
      if (page >= count) count = await this.pageCount();
      if (page >= count) return;
      yield [`(${page},0)`, `(${page + PAGES_PER_READ},0)`];
    }
  }

  private async pageCount(): Promise<number> {
    const rows = await this.database.background.direct.query<{ pages: number }[]>(
      `SELECT (pg_relation_size('mcp.tools') / current_setting('block_size')::int)::int AS pages`,
    );
    return rows[0]?.pages ?? 0;
  }

  /** The stored tools that discovery compares with. */
  async ofServer(serverId: string, tx: Tx): Promise<StoredTool[]> {
    const rows = await tx.query<(Omit<StoredTool, 'withheld'> & { withheld: unknown })[]>(
      `SELECT id, original_name AS "originalName", content_hash AS "contentHash", pin_hash AS "pinHash", withheld
       FROM mcp.tools WHERE source_server_id = $1`,
      [serverId],
    );
    return rows.map((row) => ({ ...row, withheld: readWithheld(row.withheld) }));
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
    await this.remove(diff.removed, tx);
    await this.rewriteAll(diff.changed, tx);
    await this.mark(diff.marked, tx);
    await this.pin(diff.pinned, tx);
    const added: number[] = [];
    for (const tools of batches(diff.added)) {
      const rows = await tx.query<{ id: number; name: string }[]>(
        `INSERT INTO mcp.tools (name, source_server_id, is_external, ${WRITTEN.join(', ')})
         SELECT $1 || '.' || original_name, $2, true, ${VALUES}
         FROM unnest(${arraysFrom(3)}) AS t (${WRITTEN.join(', ')})
         RETURNING id, original_name AS name`,
        [serverName, serverId, ...columnsOf(tools)],
      );
      const ids = new Map(rows.map(({ id, name }) => [name, id]));
      added.push(...tools.map(({ originalName }) => ids.get(originalName) ?? 0));
      written(diff.changed.length + added.length);
    }
    return added;
  }

  /** Deletes the tools of a server that is about to be deleted, without blocking the event loop for long. */
  async removeOf(serverId: string, tx: Tx): Promise<void> {
    await this.remove(await this.idsOfServer(serverId, tx), tx);
  }

  private async idsOfServer(serverId: string, tx: Tx): Promise<number[]> {
    const rows = await tx.query<{ id: number }[]>(
      'SELECT id FROM mcp.tools WHERE source_server_id = $1 ORDER BY id',
      [serverId],
    );
    return rows.map(({ id }) => id);
  }

  private async remove(toolIds: readonly number[], tx: Tx): Promise<void> {
    for (const ids of batches(toolIds)) {
      await tx.query('DELETE FROM mcp.tools WHERE id = ANY($1::int[])', [ids]);
    }
  }

  /** Replaces the definition of a tool, which is classified again. */
  rewrite(toolId: number, tool: ToolToWrite, tx: Tx): Promise<void> {
    return this.rewriteAll([{ ...tool, id: toolId }], tx);
  }

  private async rewriteAll(changed: ToolDiff['changed'], tx: Tx): Promise<void> {
    for (const tools of batches(changed)) {
      await tx.query(
        `UPDATE mcp.tools
         SET (${WRITTEN.join(', ')}, is_classified, updated_at) =
             (${VALUES}, false, now())
         FROM unnest($1::int[], ${arraysFrom(2)}) AS t (id, ${WRITTEN.join(', ')})
         WHERE tools.id = t.id`,
        [tools.map(({ id }) => id), ...columnsOf(tools)],
      );
    }
  }

  /** Withholds tools, or offers them again, with the definition in the row. */
  async mark(marked: ToolDiff['marked'], tx: Tx): Promise<void> {
    for (const tools of batches(marked)) {
      await tx.query(
        `UPDATE mcp.tools SET withheld = t.withheld::jsonb, updated_at = now()
         FROM unnest($1::int[], $2::text[]) AS t (id, withheld) WHERE tools.id = t.id`,
        [tools.map(({ id }) => id), tools.map(({ withheld }) => jsonOrNull(withheld))],
      );
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
    for (const ids of batches(await this.idsOfServer(serverId, tx))) {
      await tx.query(
        `UPDATE mcp.tools SET name = $2 || '.' || original_name, updated_at = now()
         WHERE id = ANY($1::int[])`,
        [ids, serverName],
      );
    }
  }

  /** Existing tools among these ids, locked until the transaction ends. */
  async hold(toolIds: readonly number[], tx: Tx): Promise<HeldTool[]> {
    return tx.query<HeldTool[]>(
      `SELECT id, source_server_id AS "serverId", content_hash AS "contentHash"
       FROM mcp.tools WHERE id = ANY($1::int[]) ORDER BY id FOR UPDATE`,
      [toolIds],
    );
  }

  /** Returns the ids of the tools that have these skills now; their rows are locked until the transaction ends. */
  async setSkills(tools: readonly SkillsOfTool[], classifiedBy: string, tx: Tx): Promise<number[]> {
    const without = await this.holdWithoutSkills(tools, tx);
    const others = tools.filter(({ toolId }) => !without.has(toolId));
    if (others.length === 0) return [...without];
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
        others.map(({ toolId }) => toolId),
        others.map(({ contentHash }) => contentHash ?? null),
        others.map(({ skillIds }) => JSON.stringify(skillIds)),
        classifiedBy,
      ],
    );
    return [...without, ...rows.map(({ id }) => id)];
  }

  /** Those of which a model says that they have no skill, as before: writing them would copy their definitions. */
  private async holdWithoutSkills(
    tools: readonly SkillsOfTool[],
    tx: Tx,
  ): Promise<ReadonlySet<number>> {
    const given = tools.filter(({ skillIds, contentHash }) => skillIds.length === 0 && contentHash);
    if (given.length === 0) return new Set();
    const rows = await tx.query<{ id: number }[]>(
      `SELECT t.id FROM mcp.tools t JOIN unnest($1::int[], $2::text[]) AS given (id, hash) ON given.id = t.id
       WHERE t.content_hash = given.hash AND NOT t.is_classified AND cardinality(t.skill_ids) = 0
         AND t.primary_skill_id IS NULL
       FOR UPDATE OF t`,
      [given.map(({ toolId }) => toolId), given.map(({ contentHash }) => contentHash ?? null)],
    );
    return new Set(rows.map(({ id }) => id));
  }

  /** An override by a person counts as classified, even without any skill. Returns the ids of tools that did not. */
  async markClassified(toolIds: readonly number[], tx: Tx): Promise<number[]> {
    const rows = await tx.query<{ id: number }[]>(
      `WITH written AS (
         UPDATE mcp.tools SET is_classified = true WHERE id = ANY($1::int[]) AND NOT is_classified
         RETURNING id)
       SELECT id FROM written`,
      [toolIds],
    );
    return rows.map(({ id }) => id);
  }

  /** Returns the ids of the tools that had the skill. */
  async removeSkill(skillId: string, tx: Tx): Promise<number[]> {
    const rows = await tx.query<{ id: number }[]>(
      'SELECT id FROM mcp.tools WHERE $1 = ANY(skill_ids) ORDER BY id FOR UPDATE',
      [skillId],
    );
    const touched = rows.map(({ id }) => id);
    for (const ids of batches(touched)) {
      await tx.query(
        `UPDATE mcp.tools SET skill_ids = array_remove(skill_ids, $1),
                primary_skill_id = nullif(primary_skill_id, $1), updated_at = now()
         WHERE id = ANY($2::int[])`,
        [skillId, ids],
      );
    }
    return touched;
  }
}

function toTool(row: DescribedRow, servers: Map<string, ServerNames>): CatalogueTool {
  const { definition } = row;
  return toCatalogueTool(row, { definition, ...partsOf(definition) }, undefined, servers);
}

/** The columns that the definition of a tool is written to, in the order of `columnsOf`. */
const WRITTEN = [
  'original_name',
  'title',
  'description',
  'content_hash',
  'pin_hash',
  'input_schema',
  'definition',
  'withheld',
];
/** As they arrive: JSON is text, because an array of JSON would be written and read once more. */
const VALUES = `t.original_name, t.title, t.description, t.content_hash, t.pin_hash,
  t.input_schema::json, t.definition::json, t.withheld::jsonb`;
const arraysFrom = (first: number): string =>
  WRITTEN.map((_, i) => `$${first + i}::text[]`).join(', ');

function columnsOf(tools: readonly ToolToWrite[]): (string | null)[][] {
  return [
    tools.map(({ originalName }) => originalName),
    tools.map(({ title }) => title),
    tools.map(({ description }) => description),
    tools.map(({ contentHash }) => contentHash),
    tools.map(({ pinHash }) => pinHash),
    tools.map(({ inputSchema }) => JSON.stringify(inputSchema)),
    tools.map(({ definition }) => JSON.stringify(definition)),
    tools.map(({ withheld }) => jsonOrNull(withheld)),
  ];
}

const jsonOrNull = (value: object | null): string | null => value && JSON.stringify(value);

function* batches<T>(rows: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < rows.length; start += ROWS_PER_WRITE) {
    yield rows.slice(start, start + ROWS_PER_WRITE);
  }
}
